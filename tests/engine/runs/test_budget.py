"""Limits of cost and tokens, against a real server that reports what its answers use."""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import StartModel
from tests.engine.suites import CONFIG, openai_config, present, recorded, run, task, write_suite
from tests.scripted_model import Answer, Held, ModelRequest, Reply, Status, Tokens, call
from waza_engine.results.codec.run_documents import run_document
from waza_engine.results.reading.recordings import read_recording
from waza_engine.results.record import RunOutcome
from waza_engine.runs.events.stream import RunEvent
from waza_engine.runs.loading.suite_on_disk import SuiteError
from waza_engine.runs.preparing import prepare
from waza_engine.runs.settings.table import RunSettings

SAYS = "- {type: text, name: says, config: {contains: [fine]}}\n"
JUDGED = "- {type: prompt, name: judged, config: {prompt: Is it good?}}\n"
FINE = Answer("fine", usage=Tokens(90, 10))


def config(base_url: str, more: str = "", model: str = "gpt-4o") -> str:
    return openai_config(base_url, more, model, seconds=70)


def suite(tmp_path: Path, base_url: str, count: int, more: str = "", graders: str = SAYS) -> Path:
    tasks = {name: task(name) for name in "abcdef"[:count]}
    return write_suite(tmp_path, tasks, graders=graders, config=config(base_url, more))


Ran = Callable[..., tuple[RunOutcome, list[RunEvent], list[ModelRequest]]]


@pytest.fixture
def ran(scripted_model: StartModel, tmp_path: Path) -> Ran:
    """Run a suite of so many tasks whose model answers as a script says, for nine calls or less."""

    def run_it(
        answers: Answer | Sequence[Reply], count: int = 1, more: str = "", graders: str = SAYS, **options: Any
    ) -> tuple[RunOutcome, list[RunEvent], list[ModelRequest]]:
        model = scripted_model(*([answers] * 9 if isinstance(answers, Answer) else answers))
        report, events = run(suite(tmp_path, model.base_url, count, more, graders), **options)
        return report.outcome, events, model.requests

    return run_it


def test_no_call_starts_when_the_tokens_are_used_up_and_what_is_finished_stays(ran: Ran) -> None:
    outcome, events, requests = ran(FINE, 4, max_tokens=200)
    assert len(requests) == 2
    assert [found.status for found in outcome.tasks] == ["passed", "passed", "skipped", "skipped"]
    assert "200 tokens is reached" in outcome.tasks[2].error
    assert outcome.status == "error"
    assert "200 tokens is reached: 200 are used" in outcome.message
    assert outcome.limit
    assert outcome.summary.aggregate_score == 1.0
    assert events[-1].completed == 2


def test_a_limit_that_the_last_call_reaches_has_cut_nothing(ran: Ran) -> None:
    outcome, _, _ = ran(FINE, 2, max_tokens=200)
    assert (outcome.status, outcome.limit) == ("completed", "")


def test_the_task_in_work_keeps_its_finished_trials(ran: Ran) -> None:
    outcome, events, _ = ran(FINE, 2, trials=5, max_tokens=300)
    first, second = outcome.tasks
    assert (first.status, len(first.trials)) == ("passed", 3)
    assert first.error.endswith("3 of 5 trials ran")
    assert present(first.statistics).total_runs == 3
    assert second.error.endswith("no trial ran")
    assert [event.completed for event in events if event.kind in ("passed", "skipped")] == [1, 2, 3, 5, 10]


def test_dollars_are_counted_by_the_price_of_the_model(ran: Ran) -> None:
    # 1,000 tokens in cost $0.0025 with gpt-4o.
    outcome, _, requests = ran(Answer("fine", usage=Tokens(1000, 0)), 4, max_cost_usd=0.005)
    assert len(requests) == 2
    spent = present(outcome.spending)
    assert (spent.tokens, spent.cost.usd) == (2000, pytest.approx(0.005))
    assert "$0.0050 is reached: $0.0050 are spent" in outcome.message


def test_a_call_in_flight_ends_when_another_reaches_the_limit(
    scripted_model: StartModel, tmp_path: Path
) -> None:
    def script(request: ModelRequest) -> Reply:
        if "wait" in request.prompt:
            return Held("never")
        if "cheap" in request.prompt:
            return Answer("fine", usage=Tokens(9, 1))
        model.wait_for_requests(3)
        return FINE

    model = scripted_model(script)
    tasks = {"a": task("a", prompt="cheap"), "b": task("b"), "c": task("c", prompt="Please wait")}
    path = write_suite(
        tmp_path, tasks, graders=SAYS, config=config(model.base_url, "parallel: true, workers: 2")
    )
    report, _ = run(path, max_tokens=50)
    assert [found.status for found in report.outcome.tasks] == ["passed", "passed", "skipped"]
    assert report.outcome.summary.duration_ms < 60_000


def test_a_judge_that_may_not_be_asked_costs_its_verdict_and_not_the_answer(ran: Ran) -> None:
    outcome, _, _ = ran(FINE, graders=SAYS + JUDGED, max_tokens=50)
    trial = outcome.tasks[0].trials[0]
    verdicts = trial.validations or {}
    assert trial.output == "fine"
    assert verdicts["says"].passed
    assert verdicts["judged"].status == "error"
    assert "50 tokens is reached" in verdicts["judged"].feedback
    assert outcome.status == "error"


def test_judges_are_counted_apart_from_the_agent(scripted_model: StartModel, tmp_path: Path) -> None:
    verdict = Answer(calls=[call("set_waza_grade_pass", description="good")], usage=Tokens(500, 50))
    model = scripted_model(FINE, verdict, Answer("done", usage=Tokens(400, 40)))
    cheap = "- {type: behavior, name: cheap, config: {max_tokens: 100}}\n"
    report, _ = run(suite(tmp_path, model.base_url, 1, graders=JUDGED + cheap))
    trial = report.outcome.tasks[0].trials[0]
    assert {name: found.passed for name, found in (trial.validations or {}).items()} == {
        "judged": True,
        "cheap": True,
    }
    assert trial.usage is not None
    assert (trial.usage.input_tokens, present(trial.judge_usage).input_tokens) == (90, 900)
    spent = present(report.outcome.spending)
    assert spent.tokens == 1090
    assert spent.cost.usd == pytest.approx(present(trial.cost).usd)
    recorded = read_recording(present(report.results_file)).tasks[0].trials[0]
    assert recorded.outcome.usage == trial.usage


def test_what_failed_attempts_used_is_counted_too(ran: Ran) -> None:
    outcome, _, _ = ran([Answer("bad", usage=Tokens(90, 10)), FINE], more="max_attempts: 2")
    trial = outcome.tasks[0].trials[0]
    assert (trial.status, trial.attempts) == ("passed", 2)
    assert (present(trial.usage).input_tokens, present(trial.other_usage).input_tokens) == (90, 90)


def test_a_limit_of_dollars_needs_a_price_before_anything_is_spent(
    scripted_model: StartModel, tmp_path: Path
) -> None:
    model = scripted_model(FINE)
    path = write_suite(
        tmp_path, {"a": task("a")}, graders=SAYS, config=config(model.base_url, model="home-made")
    )
    with pytest.raises(SuiteError, match=r"`home-made` is not known.*--max-tokens"):
        prepare(RunSettings(path, max_cost_usd=1.0))
    assert model.requests == []
    report, events = run(path, max_cost_usd=1.0, max_tokens=1000)
    assert report.outcome.status == "completed"
    assert any("`home-made` is not known: only --max-tokens" in (event.message or "") for event in events)


@pytest.mark.parametrize("usage", [None, Tokens(-100, 10)])
def test_an_agent_that_does_not_say_what_it_uses_is_stopped_after_one_call(
    ran: Ran, usage: Tokens | None
) -> None:
    outcome, _, requests = ran(Answer("fine", usage=usage), 3, max_tokens=1000)
    assert len(requests) == 1
    assert outcome.tasks[0].status == "passed"
    assert "does not report what it uses" in outcome.message


def test_without_a_limit_everything_runs_whatever_is_reported(ran: Ran) -> None:
    outcome, _, _ = ran(Answer("fine", usage=None), 2)
    assert outcome.status == "completed"


def test_a_limit_of_zero_lets_nothing_start(ran: Ran) -> None:
    outcome, _, requests = ran(FINE, max_cost_usd=0.0)
    assert requests == []
    assert outcome.tasks[0].status == "skipped"


def test_an_executor_that_costs_nothing_has_no_limit(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, config=CONFIG)
    report, _ = run(path, max_cost_usd=0.0, max_tokens=0)
    assert report.outcome.status == "completed"
    assert "cost" not in json.loads(present(report.results_file).read_text("utf-8"))["summary"]


def test_costs_stand_in_the_results_beside_upstreams_figures(
    scripted_model: StartModel, tmp_path: Path
) -> None:
    model = scripted_model(Answer("fine", usage=Tokens(1000, 100, cached=400)))
    record = recorded(suite(tmp_path, model.base_url, 1), max_cost_usd=2.0)
    document = json.loads(record.read_text("utf-8"))
    assert document["summary"]["cost"] == {"tokens": 1100, "usd": pytest.approx(0.003)}
    assert document["tasks"][0]["cost"]["usd"] == document["tasks"][0]["runs"][0]["cost"]["usd"]
    usage = document["summary"]["usage"]
    assert (usage["input_tokens"], usage["cache_read_tokens"]) == (1000, 400)
    settings = document["metadata"]["engine"]["settings"]
    assert settings["max_cost_usd"] == 2.0
    assert settings["provider"]["host"].startswith("127.0.0.1:")
    assert "prices" not in settings
    assert {"genai-prices", "openai"} <= set(settings["versions"])


def test_a_broken_trial_keeps_what_a_person_needs_first(scripted_model: StartModel, tmp_path: Path) -> None:
    model = scripted_model(Status(400, "the model is asleep"), Answer("bad"))
    record = recorded(suite(tmp_path, model.base_url, 2))
    tasks = json.loads(record.read_text("utf-8"))["tasks"]
    broken, failed = (found["runs"][0]["failure_artifacts"] for found in tasks)
    assert broken["exit_code"] == 2
    assert "asleep" in broken["stderr"]
    assert (failed["exit_code"], failed["failed_graders"], failed["stdout"]) == (1, ["says"], "bad")


def test_the_moment_of_a_failure_is_one_however_often_it_is_written(tmp_path: Path) -> None:
    report, _ = run(write_suite(tmp_path, {"a": task("a")}, graders=SAYS))
    written = json.loads(present(report.results_file).read_text("utf-8"))
    moments = {
        document["tasks"][0]["runs"][0]["failure_artifacts"]["captured_at"]
        for document in (written, run_document(report.outcome), run_document(report.outcome))
    }
    assert len(moments) == 1
    assert report.outcome.header.started <= datetime.fromisoformat(moments.pop()) <= datetime.now(UTC)
