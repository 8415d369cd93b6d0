"""What has not come to its end, in words: a task that runs now, a first run of a suite that was cut short."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from waza_engine.counting import counted
from waza_engine.markdown import code

if TYPE_CHECKING:
    from waza_engine.results.reading.scores import RunResult
    from waza_language_server.project.going_runs import UnderWay

RUNNING = "⟳ running"
WAITS = "– waits for its turn"
_PHASES = {"asking": "prompt sent", "grading": "grading"}
_SAID = (("passed", "passed"), ("failed", "failed"), ("error", "in error"))
_CUT_SHORT = "the run was interrupted; what was finished is kept"


def running_label(trial: UnderWay) -> str:
    """Return what goes on in a task, in few characters."""
    number = f" · trial {trial.trial}" if trial.trial > 1 else ""
    return f"{RUNNING}{number} · {_PHASES[trial.phase]}"


def running_story(task: str, trial: UnderWay, now: datetime) -> str:
    """Return the same in Markdown, with how long it has gone on, and since when: a hover stays as it is."""
    seconds = max(0, round((now - trial.since).total_seconds()))
    took = f"{seconds // 60}:{seconds % 60:02}"
    clock = trial.since.astimezone().strftime("%H:%M:%S")
    did = (
        f"The prompt was sent {took} ago"
        if trial.phase == "asking"
        else f"The answer is graded, {took} so far"
    )
    return f"**{code(task)}** {RUNNING}\n\nTrial {trial.trial}. {did} (since {clock})."


def cut_reason(run: RunResult) -> str:
    """Return why a run was cut short, in words that begin small and have no full stop."""
    return run.reasons[0] if run.reasons else _CUT_SHORT


def cut_label(run: RunResult) -> str:
    """Return that a run of a suite was cut short, and how far it came."""
    word = cut_reason(run).partition(";")[0].removeprefix("the run was ")
    total = max(run.planned, len(run.tasks))
    statuses = [task.status for task in run.tasks.values() if task.trials]
    counts = [(statuses.count(status), said) for status, said in _SAID]
    judged = ", ".join(f"{count} {said}" for count, said in counts if count)
    return f"! {word} · {judged or 'none judged'} of {counted(total, 'task')}"
