"""Statistics of a run's tool calls: part of upstream's comparison since 0.38."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from waza_engine.graders.registry import known_type
from waza_engine.results.reading.recordings import RecordedTask
from waza_engine.results.record import TrialOutcome

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
