"""Find why a task failed: its answer, its test, or the environment. Uses the record alone. Light.

Architecture invariant: nothing is guessed. Each cause has its evidence as text, and where the record is not
conclusive, the cause is "not known".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from waza_engine.counting import counted
from waza_engine.results.record import verdicts_of
from waza_engine.spec.executors import asks_nobody
from waza_engine.vocabulary import COULD_NOT_GRADE, said_nothing, shown_grader

if TYPE_CHECKING:
    from waza_engine.results.record import TrialOutcome
    from waza_engine.results.task_conclusion import GraderConclusion, TaskConclusion

CauseKind = Literal["skill", "test", "environment", "not known"]
"""The kinds of causes.

``skill``: the answer is wrong, according to its graders. ``test``: a grader broke. ``environment``: the
agent, its provider or a file failed. ``not known``: the record is not conclusive.
"""

_SHOWN = 200
_EITHER = "The answer or this grader is wrong."
_LEAST_TRIALS = 2
_LEAST_SIBLINGS = 2


@dataclass(frozen=True, slots=True)
class Cause:
    """The cause of a failed task; ``evidence`` is one sentence from the record."""

    kind: CauseKind
    evidence: str


def cause_of(task: TaskConclusion) -> Cause | None:
    """Return why a task did not pass, None for one that passed, was skipped or did not run."""
    match task.verdict:
        case "failed" | "errored":
            found = _of_failed(task) if task.verdict == "failed" else _of_errored(task)
            return _of_nobody(task) if found.kind == "skill" and asks_nobody(task.executor) else found
        case "lost":
            told = f": {_shown(task.error)}" if task.error else ""
            return Cause("environment", f"No trial came to its end{told}.")
        case _:
            return None


def _of_errored(task: TaskConclusion) -> Cause:
    broken = [trial for trial in task.task.trials if trial.error]
    errored = [grader for grader in task.graders if grader.verdict == "errored"]
    # A checkpoint may end the conversation because its own grader broke: the agent did not.
    ended = [trial for trial in broken if any(checkpoint.stopped for checkpoint in trial.checkpoints)]
    if broken and not (errored and len(ended) == len(broken)):
        count = f"{len(broken)} of {counted(len(task.task.trials), 'trial')}"
        # The answer so far of an agent that broke is graded.
        when = "" if any(trial.validations for trial in broken) else " before an answer was graded"
        return Cause("environment", f"{count} broke{when}: {_ended(broken[0].error)}")
    if errored:
        return _of_broken(errored[0], task)
    if task.task.status == "failed" and not task.task.trials and task.error:
        # So a hook is written that failed, as upstream does.
        return Cause("environment", f"The agent was not asked: {_ended(task.error)}")
    return Cause("not known", f"No answer was graded: {_ended(task.error or 'the record says no more')}")


def _of_failed(task: TaskConclusion) -> Cause:
    failed = [
        trial
        for trial in task.task.trials
        if (trial.status == "failed" or trial.was_stopped_as_wrong) and not trial.stopped
    ]
    lost = [trial for trial in failed if not trial.output.strip() and _session_error(trial)]
    if failed and len(lost) == len(failed):
        why = _ended(_session_error(lost[0]))
        return Cause("environment", f"There is no answer, and the session failed: {why}")
    broken = next((grader for grader in task.graders if grader.verdict == "errored"), None)
    # Verdicts on a partial answer, left by an agent that broke, do not count against its answer.
    against = {
        name
        for trial in failed
        for name, verdict in verdicts_of(trial)
        if verdict.shown_status == "graded" and not verdict.passed
    }
    failing = [grader.name for grader in task.graders if grader.verdict == "failed"]
    names = [name for name in failing if name in against] or failing
    silent = _silent(task)
    if names and all(name in silent for name in names):
        return _of_silent(names, silent)
    names = [name for name in names if name not in silent]
    if not names:
        if broken is not None:
            return _of_broken(broken, task)
        return Cause("not known", "No grader is recorded that says why.")
    if task.passed_trials:
        passed = f"{task.passed_trials} of {counted(task.ended_trials, 'trial')} passed the same test"
        told = f"{len(failed)} {'was' if len(failed) == 1 else 'were'}"
        # Broken trials were found neither right nor wrong.
        rest = "the others were" if task.passed_trials + len(failed) == task.ended_trials else told
        return Cause("skill", f"{passed}; {rest} found wrong by {_listed(names)}.")
    alone = _contradicted(failed)
    if alone:
        where = f"in each of {counted(len(failed), 'trial')}, where all other graders pass"
        return Cause(
            "not known", f"Only `{shown_grader(alone)}` fails, {where}: the answer or this grader is wrong."
        )
    return Cause("skill", f"The answer was found wrong by {_listed(names)}, and nothing contradicts that.")


def _silent(task: TaskConclusion) -> Mapping[str, tuple[str, str]]:
    """Return the failed checks that judge the answer in no trial, with the kind and the reason."""
    found: dict[str, tuple[str, str] | None] = {}
    for trial in task.task.trials:
        for name, verdict in () if trial.stopped else verdicts_of(trial):
            if verdict.shown_status == "graded" and not verdict.passed:
                why = said_nothing(verdict.details)
                found[name] = None if why is None else found.get(name, why)
    return {name: why for name, why in found.items() if why is not None}


def _of_silent(names: Sequence[str], found: Mapping[str, tuple[str, str]]) -> Cause:
    kind, why = found[names[0]]
    more = f"; neither did {_listed(names[1:])}" if names[1:] else ""
    end = f"{_shown(why)}{more}." if more else _ended(why)
    told = f"`{shown_grader(names[0])}` said nothing of the answer: {end}"
    # A grader that cannot start or be evaluated is at fault itself; one that hangs or raises may do so
    # because of the agent's files.
    return (
        Cause("test", told)
        if kind in ("start", "unusable", "silent")
        else Cause("not known", f"{told} {_EITHER}")
    )


def _of_nobody(task: TaskConclusion) -> Cause:
    silent = _silent(task)
    failed = _listed(
        [grader.name for grader in task.graders if grader.verdict == "failed" and grader.name not in silent]
    )
    return Cause(
        "not known",
        f"`{task.executor}` answered instead of an agent with the skill; {failed} found the answer wrong.",
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


def _of_broken(grader: GraderConclusion, task: TaskConclusion) -> Cause:
    why = _ended(grader.feedback.removeprefix(COULD_NOT_GRADE))
    said = [
        verdict for trial in task.task.trials for name, verdict in verdicts_of(trial) if name == grader.name
    ]
    lost = [said_nothing(verdict.details) for verdict in said if verdict.status == "error"]
    # A judge whose provider fails is neither the answer nor its test.
    of_provider = bool(lost) and all(found is not None and found[0] == "surroundings" for found in lost)
    return Cause(
        "environment" if of_provider else "test", f"`{shown_grader(grader.name)}` could not grade: {why}"
    )


def _shown(text: str) -> str:
    line = " ".join(text.split()).rstrip(".")
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"


def _ended(text: str) -> str:
    """Return a reason as the end of a sentence: a question or a cut one has its punctuation already."""
    line = _shown(text)
    return line if line.endswith(("?", "!", "…")) else f"{line}."
