"""Why a task is red: its answer, its test, or what surrounds both. Told from the record alone. Light.

Architecture invariant: nothing is guessed. Each cause has its evidence in words, and where the record does
not tell, that is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from waza_engine.counting import counted
from waza_engine.spec.executors import asks_nobody
from waza_engine.vocabulary import shown_grader

if TYPE_CHECKING:
    from waza_engine.results.record import TrialOutcome
    from waza_engine.results.task_conclusion import TaskConclusion

CauseKind = Literal["skill", "test", "environment", "not known"]
"""``skill``: the answer is wrong, as far as its graders tell. ``test``: a grader broke. ``environment``: the
agent, its provider or a file failed. ``not known``: the record does not tell."""

_SHOWN = 200
_LEAST_TRIALS = 2
_LEAST_SIBLINGS = 2


@dataclass(frozen=True, slots=True)
class Cause:
    """What made a task red; ``evidence`` is one sentence of what the record has."""

    kind: CauseKind
    evidence: str


def cause_of(task: TaskConclusion) -> Cause | None:
    """Return why a task did not pass, None for one that passed, was skipped or did not run."""
    match task.verdict:
        case "failed" | "errored":
            found = _of_failed(task) if task.verdict == "failed" else _of_errored(task)
            return _of_nobody(task) if found.kind == "skill" and asks_nobody(task.executor) else found
        case "lost":
            return Cause("environment", f"No trial came to its end: {_shown(task.reason)}.")
        case _:
            return None


def _of_errored(task: TaskConclusion) -> Cause:
    broken = [trial for trial in task.task.trials if trial.error]
    if broken:
        if ended := [grader.name for grader in task.graders if grader.verdict == "failed"]:
            # A checkpoint that stops the conversation: an answer was graded, and found wrong.
            return Cause("skill", f"The conversation was ended, for {_listed(ended)} found the answer wrong.")
        count = f"{len(broken)} of {counted(len(task.task.trials), 'trial')}"
        return Cause("environment", f"{count} broke before an answer was graded: {_shown(broken[0].error)}.")
    errored = [grader for grader in task.graders if grader.verdict == "errored"]
    if errored:
        return Cause(
            "test", f"`{shown_grader(errored[0].name)}` could not grade: {_shown(errored[0].feedback)}."
        )
    return Cause("not known", f"No answer was graded: {_shown(task.error) or 'the record says no more'}.")


def _of_failed(task: TaskConclusion) -> Cause:
    failed = [trial for trial in task.task.trials if trial.status == "failed" and not trial.stopped]
    lost = [trial for trial in failed if not trial.output.strip() and _session_error(trial)]
    if failed and len(lost) == len(failed):
        return Cause("environment", f"There is no answer, and the session failed: {_session_error(lost[0])}.")
    broken = next((grader for grader in task.graders if grader.verdict == "errored"), None)
    names = [grader.name for grader in task.graders if grader.verdict == "failed"]
    if not names:
        if broken is not None:
            return Cause("test", f"`{shown_grader(broken.name)}` could not grade: {_shown(broken.feedback)}.")
        return Cause("not known", "No grader is recorded that says why.")
    if task.passed_trials:
        passed = f"{task.passed_trials} of {counted(task.ended_trials, 'trial')} passed the same test"
        return Cause("skill", f"{passed}; the others were found wrong by {_listed(names)}.")
    alone = _contradicted(failed)
    if alone:
        where = f"in each of {counted(len(failed), 'trial')}, where all other graders pass"
        return Cause(
            "not known", f"Only `{shown_grader(alone)}` fails, {where}: it is the answer or this grader."
        )
    return Cause("skill", f"The answer was found wrong by {_listed(names)}, and nothing contradicts that.")


def _of_nobody(task: TaskConclusion) -> Cause:
    failed = _listed([grader.name for grader in task.graders if grader.verdict == "failed"])
    return Cause(
        "not known", f"`{task.executor}` answered, and no agent with the skill; {failed} found it wrong."
    )


def _contradicted(failed: Sequence[TrialOutcome]) -> str:
    """Return the one grader that fails in every trial where several others pass, "" when there is none."""
    alone: set[str] = set()
    for trial in failed:
        said = list((trial.validations or {}).values())
        against = [verdict.name for verdict in said if not verdict.passed]
        if len(against) != 1 or len(said) - 1 < _LEAST_SIBLINGS:
            return ""
        alone.add(against[0])
    return alone.pop() if len(alone) == 1 and len(failed) >= _LEAST_TRIALS else ""


def _session_error(trial: TrialOutcome) -> str:
    for event in trial.events:
        if event.get("type") == "session.error":
            return _shown(str(event.get("message") or event.get("content") or "the agent reported an error"))
    return ""


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{shown_grader(name)}`" for name in names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"


def _shown(text: str) -> str:
    line = " ".join(text.split()).rstrip(".")
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"
