"""A record that is written and read again is the same record."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.results.eras import SAMPLES
from waza_engine.results.codec.run_documents import run_document, run_of
from waza_engine.results.codec.summary_blocks import task_document, task_of
from waza_engine.results.codec.trials import FAILURES, verdict_document, verdict_of
from waza_engine.results.json_values import blocks_of
from waza_engine.results.reading.formats import todays_layout
from waza_engine.results.record import (
    CheckpointOutcome,
    MetricOutcome,
    ResponderOutcome,
    RunHeader,
    RunOutcome,
    TaskOutcome,
    TrialOutcome,
    TriggerOutcome,
    UnjudgedAnswer,
    Validation,
    VerdictStatus,
    verdicts_of,
)
from waza_engine.scoring.cost import Cost, Spending
from waza_engine.scoring.impact import PairwiseImpact, RankedModel, Recommendation, SkillImpact
from waza_engine.scoring.statistics import Interval
from waza_engine.scoring.task_scores import (
    SuiteSummary,
    TaskScore,
    TrialStatus,
    suite_summary,
    task_statistics,
    trial_status,
    worst_status,
)
from waza_engine.scoring.trigger_scores import TriggerMetrics, trigger_metrics
from waza_engine.vocabulary import (
    Check,
    CommandInvocation,
    Commit,
    ModelUsage,
    SkillInvocation,
    ToolCall,
    ToolDenial,
    Usage,
)

some = settings(max_examples=50)

texts = st.text(max_size=12)
names = st.text(min_size=1, max_size=12)
counts = st.integers(0, 10**9)
shares = st.floats(0, 1)
amounts = st.floats(0, 1e6)
statuses: st.SearchStrategy[TrialStatus] = st.sampled_from(["passed", "failed", "error", "skipped"])
verdict_statuses: st.SearchStrategy[VerdictStatus] = st.sampled_from(["graded", "pending", "error"])
scalars = st.none() | st.booleans() | counts | amounts | texts
values: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
# Words that a reader understands come from the record itself.
details = st.dictionaries(names.filter(lambda key: key != "status"), values, max_size=3)
checks = st.builds(
    Check,
    path=st.lists(st.text(max_size=8) | st.integers(0, 99), max_size=3).map(tuple),
    passed=st.booleans(),
    message=texts,
    rule=texts,
)


def verdicts(name: str) -> st.SearchStrategy[Validation]:
    return st.builds(
        Validation,
        name=st.just(name),
        type=texts,
        score=shares,
        passed=st.booleans(),
        feedback=texts,
        weight=st.floats(0.1, 10),
        status=verdict_statuses,
        details=details,
        checks=st.lists(checks, max_size=2).map(tuple),
        duration_ms=counts,
    )


by_grader = st.lists(names, max_size=3, unique=True).flatmap(
    lambda found: st.fixed_dictionaries({name: verdicts(name) for name in found})
)
unjudged = st.lists(
    st.builds(UnjudgedAnswer, by=st.sampled_from(["agent", "judge", "responder"]), text=texts, prompt=texts),
    max_size=2,
).map(tuple)
# What used nothing is written as nothing.
usages = st.builds(
    Usage,
    turns=st.integers(1, 99),
    input_tokens=counts,
    output_tokens=counts,
    cache_read_tokens=counts,
    cache_write_tokens=counts,
    premium_requests=amounts,
    model_metrics=st.dictionaries(
        texts,
        st.builds(
            ModelUsage,
            input_tokens=counts,
            output_tokens=counts,
            cache_read_tokens=counts,
            cache_write_tokens=counts,
            request_count=counts,
            request_cost=amounts,
        ),
        max_size=2,
    ),
    provider=texts,
    provider_host=texts,
    cost_usd=st.none() | st.floats(0.01, 99),
)
calls = st.builds(
    ToolCall,
    name=texts,
    arguments=st.dictionaries(texts, values, max_size=3),
    id=texts,
    result=values,
    success=st.booleans(),
)
events = st.fixed_dictionaries(
    {"type": st.sampled_from(["user.message", "assistant.message"]), "content": texts}
)
checkpoints = st.builds(
    CheckpointOutcome,
    after_turn=counts,
    status=statuses,
    validations=by_grader,
    stopped=st.booleans(),
)
responders = st.builds(
    ResponderOutcome,
    followups_sent=counts,
    outcome=st.sampled_from(["cap_exhausted", "stopped", "abstained", "error"]),
    reason=texts,
)
costs = st.builds(Cost, usd=st.floats(0.01, 99), unpriced=st.lists(texts, max_size=2).map(tuple))


def trials(number: int) -> st.SearchStrategy[TrialOutcome]:
    return st.builds(
        TrialOutcome,
        number=st.just(number),
        status=statuses,
        validations=st.none() | by_grader,
        attempts=st.integers(1, 9),
        duration_ms=counts,
        output=texts,
        events=st.lists(events, max_size=3).map(tuple),
        tool_calls=st.lists(calls, max_size=3).map(tuple),
        tool_policy=st.sampled_from(["", "unrestricted", "deny_all", "allow_list"]),
        unjudged=unjudged,
        tool_denials=st.lists(st.builds(ToolDenial, tool=texts, kind=texts, reason=texts), max_size=2).map(
            tuple
        ),
        command_invocations=st.lists(
            st.builds(
                CommandInvocation,
                command=texts,
                arguments=st.lists(texts, max_size=2).map(tuple),
                exit_code=st.integers(0, 255),
                response=st.integers(-1, 3),
            ),
            max_size=2,
        ).map(tuple),
        skill_invocations=st.lists(st.builds(SkillInvocation, name=texts, path=texts), max_size=2).map(tuple),
        usage=st.none() | usages,
        session=texts,
        error=texts,
        workspace=texts,
        checkpoints=st.lists(checkpoints, max_size=2).map(tuple),
        responder=st.none() | responders,
        judge_usage=st.none() | usages,
        other_usage=st.none() | usages,
        cost=st.none() | costs,
        stopped=st.booleans(),
        captured_at=texts,
    ).map(_consistent)


def _consistent(trial: TrialOutcome) -> TrialOutcome:
    """Return a trial whose status none of its verdicts contradicts."""
    status = worst_status(trial.status, [trial_status([said.graded for _, said in verdicts_of(trial)])])
    return replace(trial, status=status, captured_at=trial.captured_at if status in FAILURES else "")


impacts = st.builds(
    SkillImpact,
    pass_rate_with_skills=shares,
    pass_rate_baseline=shares,
    delta=st.floats(-1, 1),
    percent_change=amounts,
    pairwise=st.none()
    | st.builds(
        PairwiseImpact,
        winner=texts,
        magnitude=texts,
        reasoning=texts,
        position_consistent=st.booleans(),
        wins=counts,
        ties=counts,
        losses=counts,
    ),
)


@st.composite
def tasks(draw: st.DrawFn) -> TaskOutcome:
    """A task whose figures are those of its trials; where one was judged, there are some."""
    ran = tuple(draw(trials(number)) for number in range(1, draw(st.integers(0, 3)) + 1))
    counted = draw(st.booleans()) or any(trial.validations and not trial.stopped for trial in ran)
    return TaskOutcome(
        id=draw(texts),
        name=draw(texts),
        status=worst_status(draw(statuses), [trial.status for trial in ran if not trial.stopped]),
        trials=ran,
        statistics=task_statistics([trial.score for trial in ran if not trial.stopped]) if counted else None,
        golden=draw(st.booleans()),
        file=draw(texts),
        error=draw(texts),
        group=draw(texts),
        cached=draw(st.booleans()),
        impact=draw(st.none() | impacts),
    )


headers = st.builds(
    RunHeader,
    run_id=texts,
    started=st.datetimes(
        min_value=datetime(2020, 1, 1),  # noqa: DTZ001 - the zone is drawn
        max_value=datetime(2040, 1, 1),  # noqa: DTZ001
        timezones=st.just(UTC),
    ),
    eval_file=texts,
    eval_name=texts,
    skill=texts,
    executor=texts,
    model=texts,
    judge_model=texts,
    trials_per_task=counts,
    timeout_seconds=counts,
    tasks=st.lists(texts, max_size=2).map(tuple),
    graders=st.lists(texts, max_size=2).map(tuple),
    settings=st.dictionaries(texts, values, max_size=3),
    commit=st.none()
    | st.builds(
        Commit,
        st.text("0123456789abcdef", min_size=40, max_size=40),
        st.none() | st.booleans(),
    ),
)
intervals = st.builds(Interval, lower=amounts, upper=amounts, mean=amounts, resamples=counts)
summaries = st.builds(
    SuiteSummary,
    **dict.fromkeys(("total_tests", "succeeded", "failed", "errors", "skipped", "duration_ms"), counts),
    **dict.fromkeys(("success_rate", "aggregate_score", "weighted_score"), shares),
    **dict.fromkeys(("min_score", "max_score", "std_dev"), shares),
    interval=intervals,
    pass_hat_k=st.lists(shares, max_size=3).map(tuple),
).flatmap(lambda found: st.sampled_from([found, replace(found, interval=None, pass_hat_k=())]))
trigger_outcomes = st.builds(
    TriggerOutcome,
    prompt=texts,
    should_trigger=st.booleans(),
    did_trigger=st.booleans(),
    confidence=texts,
    error=texts,
    output=texts,
)
figures = st.builds(
    TriggerMetrics,
    **dict.fromkeys(("true_positives", "false_positives", "true_negatives"), counts),
    **dict.fromkeys(("false_negatives", "errors"), counts),
    **dict.fromkeys(("precision", "recall", "f1", "accuracy"), shares),
)
ranked = st.builds(
    RankedModel,
    model=texts,
    **dict.fromkeys(("score", "aggregate", "pass_rate", "consistency", "speed"), shares),
)
recommendations = st.builds(
    Recommendation,
    ranking=st.lists(ranked, min_size=2, max_size=3).map(tuple),
    margin_percent=counts.map(lambda count: count / 2),
)


def metrics(name: str) -> st.SearchStrategy[MetricOutcome]:
    return st.builds(
        MetricOutcome,
        name=st.just(name),
        value=shares,
        threshold=shares,
        passed=st.booleans(),
        weight=amounts,
    ).map(lambda metric: replace(metric, passed=metric.passed and metric.reached))


def _counted(written: SuiteSummary, of: Sequence[TaskOutcome]) -> SuiteSummary:
    """Return figures that the tasks bear out, as far as these tell."""
    ended = [trial for task in of for trial in task.trials if not trial.stopped]
    if not of or any(trial.validations is None and trial.status != "error" for trial in ended):
        return written
    scores = [TaskScore(task.status, task.statistics) for task in of]
    found = suite_summary(scores, duration_ms=written.duration_ms)
    return replace(found, interval=written.interval, pass_hat_k=written.pass_hat_k)


@st.composite
def runs(draw: st.DrawFn, *, baseline: bool = True) -> RunOutcome:
    tried = draw(st.none() | figures)
    triggers = () if tried is None else tuple(draw(st.lists(trigger_outcomes, max_size=2)))
    of = tuple(draw(st.lists(tasks(), max_size=2)))
    return RunOutcome(
        header=draw(headers),
        status=draw(st.sampled_from(["completed", "failed", "canceled", "error"])),
        tasks=of,
        summary=_counted(draw(summaries), of),
        usage=draw(st.none() | usages),
        metrics=tuple(draw(metrics(name)) for name in draw(st.lists(names, max_size=2, unique=True))),
        triggers=triggers,
        trigger_metrics=trigger_metrics(triggers) or tried,
        message=draw(texts),
        spending=draw(st.none() | st.builds(Spending, tokens=st.integers(1, 10**9), cost=costs)),
        limit=draw(texts),
        baseline=draw(st.none() | runs(baseline=False)) if baseline else None,
        recommendation=draw(st.none() | recommendations),
        unjudged=draw(unjudged),
    )


def sent(document: Any) -> Any:
    return json.loads(json.dumps(document))


@some
@given(runs())
def test_a_run_is_the_same_when_written_and_read_again(run: RunOutcome) -> None:
    assert run_of(sent(run_document(run))) == run


@some
@given(tasks())
def test_a_task_is_the_same_when_written_and_read_again(task: TaskOutcome) -> None:
    assert task_of(sent(task_document(task))) == task


@some
@given(names.flatmap(verdicts))
def test_a_verdict_is_the_same_when_written_and_read_again(verdict: Validation) -> None:
    assert verdict_of(verdict.name, sent(verdict_document(verdict))) == verdict


@pytest.mark.parametrize("era", SAMPLES)
def test_what_any_version_wrote_is_the_same_record_when_written_by_this_one(era: str) -> None:
    """Figures are counted from the trials, so a task whose file holds no trials has none."""
    for written in blocks_of(todays_layout(SAMPLES[era]())["tasks"]):
        read = task_of(written)
        assert task_of(sent(task_document(read))) == read


@pytest.mark.parametrize(
    ("written", "status"),
    [
        ({}, "graded"),
        ({"status": "pending"}, "pending"),
        ({"status": "error"}, "error"),
        ({"status": "n/a"}, "graded"),
        ({"details": {"status": "pending"}}, "pending"),
        ({"details": {"status": "calibration_pending"}}, "pending"),
        ({"details": {"status": "reviewed"}}, "graded"),
    ],
)
def test_every_era_says_in_its_own_words_that_a_verdict_waits(written: dict[str, Any], status: str) -> None:
    assert verdict_of("review", written).status == status


@some
@given(st.dictionaries(st.sampled_from(["runs", "stats", "test_id", "skill_impact"]), values))
def test_whatever_a_task_is_it_can_be_read(document: dict[str, Any]) -> None:
    task_of(document)


@some
@given(
    st.dictionaries(st.sampled_from(["metadata", "summary", "metrics", "tasks", "baseline_outcome"]), values)
)
def test_whatever_a_run_is_it_can_be_read(document: dict[str, Any]) -> None:
    run_of(document)


@some
@given(st.dictionaries(st.sampled_from(["validations", "transcript", "session_digest", "cost"]), values))
def test_whatever_a_trial_is_it_can_be_read(run: dict[str, Any]) -> None:
    task_of({"runs": [run]})
