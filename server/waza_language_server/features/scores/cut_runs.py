"""A first run of a suite that was cut short, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from waza_engine.counting import counted

if TYPE_CHECKING:
    from waza_engine.results.reading.scores import RunResult

_SAID = (("passed", "passed"), ("failed", "failed"), ("error", "in error"))
_CUT_SHORT = "the run was interrupted; what was finished is kept"


def cut_reason(run: RunResult) -> str:
    """Return why a run was cut short, in words that begin small and have no full stop."""
    return run.reasons[0] if run.reasons else _CUT_SHORT


def cut_label(run: RunResult) -> str:
    """Return the label of a run of a suite that was cut short, with its progress."""
    word = cut_reason(run).partition(";")[0].removeprefix("the run was ")
    total = max(run.planned, len(run.tasks))
    statuses = [task.status for task in run.tasks.values() if task.trials]
    counts = [(statuses.count(status), said) for status, said in _SAID]
    judged = ", ".join(f"{count} {said}" for count, said in counts if count)
    return f"! {word} · {judged or 'none judged'} of {counted(total, 'task')}"
