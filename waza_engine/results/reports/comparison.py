"""Compare runs: which tasks got better or worse from the first to the last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from waza_engine.figures import is_finite
from waza_engine.graders.registry import known_type
from waza_engine.results.codec.runs import run_of
from waza_engine.results.conclusion import Conclusion, conclude, trigger_verdict
from waza_engine.results.json_values import Json, block_of
from waza_engine.results.reading.recordings import RecordedTask, Recording
from waza_engine.results.reading.scores import TaskResult
from waza_engine.results.record import RunOutcome, TrialOutcome
from waza_engine.results.run_parts import chosen_parts
from waza_engine.results.task_conclusion import tasks_by_name, trial_changes
from waza_engine.scoring.statistics import paired_p
from waza_engine.vocabulary import told_apart


def comparison(recordings: Sequence[Recording]) -> Json:
    """Return upstream's object of the runs, in the order given.

    Deltas are last minus first. Missing values are null (upstream writes NaN there and fails): a task that is
    missing has the status ``n/a``, and its numbers are all null. Upstream lacks ``verdicts``, ``scored``
    (whether a run has a score), ``parts`` (what a run was limited to, so that it is no verdict of all),
    ``asked_models``, ``trigger_prompts``, ``regressions`` and ``paired``.
    """
    documents = [recording.document for recording in recordings]
    summaries = [block_of(document, "summary") for document in documents]
    durations = [_number(s.get("duration_ms")) for s in summaries]
    runs = [run_of(document) for document in documents]
    concluded = [conclude(run) for run in runs]
    scores = [
        None if _number(written.get("aggregate_score")) is None else run.summary.weighted_score
        for run, written in zip(runs, summaries, strict=True)
    ]
    rates = [
        None
        if _number(written.get("success_rate")) is None
        else found.counts.pass_rate(run.summary.success_rate)
        for run, written, found in zip(runs, summaries, concluded, strict=True)
    ]
    by_run = [_tasks(recording) for recording in recordings]
    by_name = [tasks_by_name(found.tasks) for found in concluded]
    identifiers = dict.fromkeys(identifier for tasks in by_run for identifier in tasks)
    return {
        "files": [str(recording.path) for recording in recordings],
        "models": [recording.header.model for recording in recordings],
        "aggregate_scores": scores,
        "success_rates": rates,
        "aggregate_score_delta": _delta(scores),
        "success_rate_delta": _delta(rates),
        "task_deltas": [
            {
                **_task(identifier, [tasks.get(identifier) for tasks in by_run]),
                "verdicts": [tasks[identifier].verdict if identifier in tasks else None for tasks in by_name],
            }
            for identifier in identifiers
        ],
        "total_tests": [len(recording.tasks) for recording in recordings],
        "durations_ms": durations,
        "duration_delta_ms": _delta(durations),
        "verdicts": [found.verdict for found in concluded],
        "parts": [list(chosen_parts(run)) for run in runs],
        "asked_models": [recording.header.asked_model for recording in recordings],
        "scored": [found.scored for found in concluded],
        "trigger_prompts": prompt_deltas(runs),
        **_changes(concluded[0], concluded[-1]),
        "tool_metrics": [tool_metrics(recording.tasks) for recording in recordings],
    }


def _changes(then: Conclusion, now: Conclusion) -> Json:
    """Return which tasks passed in the first run and fail in the last, and the paired test over trials."""
    first, last = (tasks_by_name(found.tasks) for found in (then, now))
    both = [name for name in last if name in first]
    steps = [step for name in both for step in trial_changes(first[name], last[name])]
    return {
        "regressions": [
            name for name in both if (first[name].verdict, last[name].verdict) == ("passed", "failed")
        ],
        "paired": {"better": steps.count(1), "worse": steps.count(-1), "p": paired_p(steps)},
    }


def prompt_deltas(runs: Sequence[RunOutcome]) -> list[Json]:
    """Return the result of each trigger prompt in each run, null where it was not tried."""
    by_run = [
        {(trigger.prompt, trigger.should_trigger): trigger_verdict(trigger) for trigger in run.triggers}
        for run in runs
    ]
    return [
        {"prompt": key[0], "should_trigger": key[1], "verdicts": [known.get(key) for known in by_run]}
        for key in dict.fromkeys(key for known in by_run for key in known)
    ]


def _tasks(recording: Recording) -> dict[str, tuple[TaskResult, float | None]]:
    found: dict[str, tuple[TaskResult, float | None]] = {}
    for name, task in zip(told_apart(task.id for task in recording.tasks), recording.tasks, strict=True):
        rate = _number(block_of(task.document, "stats").get("pass_rate"))
        found[name] = task.scores, rate
    return found


def _task(identifier: str, found: Sequence[tuple[TaskResult, float | None] | None]) -> Json:
    scores = [None if each is None or each[1] is None else each[0].score for each in found]
    rates = [None if each is None else each[1] for each in found]
    return {
        "task_id": identifier,
        "display_name": next((each[0].name for each in found if each is not None), ""),
        "scores": scores,
        "pass_rates": rates,
        "statuses": ["n/a" if each is None else each[0].status for each in found],
        "score_delta": _delta(scores),
        "pass_rate_delta": _delta(rates),
    }


def _delta(values: Sequence[float | None]) -> float | None:
    first, last = values[0], values[-1]
    return None if first is None or last is None else last - first


def _number(value: object) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool) or not is_finite(value):
        return None
    return value


_MANY = 3


def tool_metrics(tasks: Sequence[RecordedTask]) -> dict[str, Any]:
    """Return the statistics of a run; rates are 0..1 and 0 when there is nothing to count.

    ``selection_accuracy`` is the share of verdicts on the choice of tools that passed (upstream always
    reports 0). The histogram counts trials by their number of calls.
    """
    trials = [trial.outcome for task in tasks for trial in task.trials]
    calls = [call for trial in trials for call in trial.tool_calls or ()]
    verdicts = [
        verdict.passed
        for trial in trials
        for verdict in (trial.validations or {}).values()
        if _is_of_tool_choice(verdict.type)
    ]
    counts = Counter(min(_MANY, _calls(trial)) for trial in trials)
    return {
        "total_calls": len(calls),
        "tasks_with_tools": sum(any(_calls(trial.outcome) for trial in task.trials) for task in tasks),
        "avg_calls_per_task": len(calls) / len(tasks) if tasks else 0.0,
        "success_rate": sum(call.success for call in calls) / len(calls) if calls else 0.0,
        "selection_accuracy": sum(verdicts) / len(verdicts) if verdicts else 0.0,
        "call_count_histogram": {
            "0": counts[0],
            "1": counts[1],
            "2": counts[2],
            f"{_MANY}+": counts[_MANY],
        },
    }


def _is_of_tool_choice(grader: str) -> bool:
    found = known_type(grader)
    return found is not None and found.judges_tool_choice


def _calls(trial: TrialOutcome) -> int:
    return len(trial.tool_calls or ())
