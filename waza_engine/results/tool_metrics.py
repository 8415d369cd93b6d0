"""How a run used tools, in figures: part of upstream's comparison since 0.38 (reference waza_0_38.md §10)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from waza_engine.results.recordings import RecordedTask, RecordedTrial

_MANY = 3


def tool_metrics(tasks: Sequence[RecordedTask]) -> dict[str, Any]:
    """Return the figures of a run; rates are 0..1 and 0 when there is nothing to count.

    ``selection_accuracy`` is the share of `tool_calls` verdicts that passed (upstream always says 0). The
    histogram counts trials by their number of calls.
    """
    trials = [trial for task in tasks for trial in task.trials]
    calls = [call for trial in trials for call in trial.tool_calls or ()]
    verdicts = [
        verdict.get("passed") is True
        for trial in trials
        for verdict in trial.validations.values()
        if verdict.get("type") == "tool_calls"
    ]
    counts = Counter(min(_MANY, _calls(trial)) for trial in trials)
    return {
        "total_calls": len(calls),
        "tasks_with_tools": sum(any(_calls(trial) for trial in task.trials) for task in tasks),
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


def _calls(trial: RecordedTrial) -> int:
    return len(trial.tool_calls or ())
