"""The conclusion of a task: its verdict, why, and each grader's result over all trials. Light."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from waza_engine.counting import counted, cut
from waza_engine.frozen import frozen
from waza_engine.number_formats import format_score
from waza_engine.results.record import TaskOutcome, TrialOutcome, Validation, verdicts_of
from waza_engine.scoring.pass_estimates import PassEstimates, pass_estimates
from waza_engine.scoring.statistics import mean
from waza_engine.scoring.task_scores import TrialStatus, task_status
from waza_engine.spec.executors import asks_nobody
from waza_engine.vocabulary import COULD_NOT_GRADE, grader_label, unique_names, unjudged_reason

TaskVerdict = Literal["passed", "failed", "errored", "skipped", "lost", "not run"]
"""The verdicts of a task.

``errored``: something else than the answer broke. ``skipped``: nothing was graded, there is no grader, or
people have to do it. ``lost``: its trials were begun and none of them ended. ``not run``: none was begun.
"""

TrialVerdict = Literal["passed", "failed", "errored", "skipped", "lost"]
GraderVerdict = Literal["passed", "failed", "errored", "pending", "advisory"]
"""``advisory``: it did not pass, or broke, and is not required."""

NO_GRADER = "nothing was judged: it has no grader"
_NONE_REQUIRED = "nothing was judged: none of its graders is required"
_FEEDBACK_CHARACTERS = 2_000
TRIAL_VERDICTS: Mapping[TrialStatus, Literal["passed", "failed", "errored", "skipped"]] = {
    "passed": "passed",
    "failed": "failed",
    "error": "errored",
    "skipped": "skipped",
}


@frozen()
class GraderConclusion:
    """One grader of a task over the finished trials.

    It failed if it failed any of them; ``feedback`` is that of the first that did not pass, or of the last.
    ``score`` is the mean of its scores, without those that wait for a person.
    """

    name: str
    type: str
    verdict: GraderVerdict
    score: float
    passed_trials: int
    trials: int
    feedback: str


@dataclass(frozen=True, slots=True)
class TaskConclusion:
    """A task. ``reason`` says why it did not pass, ``error`` what broke it or kept it from running.

    ``trials`` are the verdicts of all its trials; ``score`` is the mean of their weighted scores, 0..1, and
    ``plain_score`` that of the scores without weights. ``estimates`` are None for a task with one trial.
    ``executor`` answered, "" when that is not known.
    """

    id: str
    name: str
    verdict: TaskVerdict
    reason: str
    error: str
    score: float
    trials: tuple[TrialVerdict, ...]
    graders: tuple[GraderConclusion, ...]
    duration_ms: int
    estimates: PassEstimates | None
    task: TaskOutcome
    executor: str = ""
    plain_score: float = 0.0
    passes_part: bool = False
    """True if the graders that were run let it pass, and others were not run."""

    @property
    def judged(self) -> bool:
        """Return whether the answers were found right or wrong."""
        return self.verdict in ("passed", "failed")

    @property
    def scored(self) -> bool:
        """Return whether its score counts: it was judged, or its trials broke, which is a score of 0."""
        return self.verdict in ("passed", "failed", "errored") and self.ended_trials > 0

    @property
    def waits(self) -> bool:
        """Return whether people have to grade it, and nothing else is known."""
        return self.verdict == "skipped" and any(grader.verdict == "pending" for grader in self.graders)

    @property
    def may_yet_fail(self) -> bool:
        """Return whether it passed, but a required grader still waits for a person."""
        verdicts = (verdict for trial in self.task.trials for _, verdict in verdicts_of(trial))
        return self.verdict == "passed" and any(one.status == "pending" and one.required for one in verdicts)

    @property
    def has_no_grader(self) -> bool:
        """Return whether nothing judges its answers: upstream lets it pass with score 0."""
        return self.verdict == "skipped" and any(map(is_unjudged, self.task.trials))

    @property
    def was_not_judged(self) -> bool:
        """Return whether its trials ended without a verdict: no grader, a review to come, or skipped."""
        return self.verdict == "skipped" and not self.passes_part

    @property
    def has_advice(self) -> bool:
        """Return whether an advisory grader did not pass."""
        return any(grader.verdict == "advisory" for grader in self.graders)

    @property
    def passed_trials(self) -> int:
        """Return how many trials passed."""
        return self.trials.count("passed")

    @property
    def share(self) -> str:
        """Return how many of its trials passed: ``2/3``; "" when nothing was judged in any."""
        tried = any(trial not in ("skipped", "lost") for trial in self.trials)
        return f"{self.passed_trials}/{self.ended_trials}" if tried else ""

    @property
    def ended_trials(self) -> int:
        """Return how many trials ended."""
        return len(self.trials) - self.trials.count("lost")

    @property
    def hidden_reason(self) -> str:
        """Return why it failed if its score does not show that: the failed grader has no weight in it."""
        full = format_score(self.score) == format_score(1.0)
        return self.reason if self.verdict == "failed" and self.scored and full else ""

    @property
    def cut_short(self) -> str:
        """Return why it has passed only so far: not all of its trials ran. "" if it is complete."""
        return self.task.error if self.verdict == "passed" else ""

    @property
    def flaky(self) -> bool:
        """Return whether some trials passed and others failed: a broken trial does not count."""
        return "passed" in self.trials and "failed" in self.trials

    @property
    def cause(self) -> Cause | None:
        """Return whether the skill, the test or the environment is why it did not pass, if recorded."""
        return cause_of(self)

    def document(self) -> dict[str, Any]:
        """Return it as JSON, with its graders; long feedback is cut."""
        cause = self.cause
        return {
            "verdict": self.verdict,
            "reason": self.reason,
            **({"cut_short": self.cut_short} if self.cut_short else {}),
            **({"cause": asdict(cause)} if cause is not None else {}),
            "score": self.score,
            **({"estimates": self.estimates.words} if self.estimates is not None else {}),
            **({"plain_score": self.plain_score} if self.plain_score != self.score else {}),
            "duration_ms": self.duration_ms,
            "trials": list(self.trials),
            "graders": [
                {**asdict(grader), "feedback": grader.feedback[:_FEEDBACK_CHARACTERS]}
                for grader in self.graders
            ],
        }


def conclude_task(task: TaskOutcome, executor: str = "") -> TaskConclusion:
    """Return the conclusion of a task; ``executor`` is the name of the one that answered."""
    ended = [trial for trial in task.trials if not trial.stopped]
    verdict = task_verdict(task)
    graders = tuple(_graders(ended))
    error = task.error or next((trial.error for trial in task.trials if trial.error), "")
    numbers = task.statistics
    estimates = None
    if numbers is not None and numbers.total_runs > 1:
        estimates = pass_estimates(numbers.passed_runs, numbers.total_runs)
    return TaskConclusion(
        id=task.id,
        name=task.name,
        verdict=verdict,
        reason=_reason(verdict, error, graders, has_graders=not any(map(is_unjudged, ended))),
        error=error,
        score=0.0 if numbers is None else numbers.avg_weighted_score,
        plain_score=0.0 if numbers is None else numbers.avg_score,
        trials=tuple(
            "lost" if trial.stopped else TRIAL_VERDICTS[status_by_verdicts(trial)] for trial in task.trials
        ),
        graders=graders,
        duration_ms=sum(trial.duration_ms for trial in task.trials),
        estimates=estimates,
        task=task,
        executor=executor,
    )


def in_part(task: TaskConclusion, part: str) -> TaskConclusion:
    """Return a task as some of its graders judged it: one that they let pass is skipped.

    ``part`` says how many graders were run.
    """
    if task.verdict != "passed":
        return task
    return replace(task, verdict="skipped", reason=f"{part}; it passed there", passes_part=True)


def tasks_by_name(tasks: Sequence[TaskConclusion]) -> dict[str, TaskConclusion]:
    """Return tasks by their ids, so that those of two runs can be compared; a second one is ``id-2``."""
    return dict(zip(unique_names(task.id for task in tasks), tasks, strict=True))


def is_unjudged(trial: TrialOutcome) -> bool:
    """Return whether a trial passed without required graders; unknown without a list of verdicts."""
    judged = any(verdict.required for _, verdict in verdicts_of(trial))
    return trial.status == "passed" and trial.validations is not None and not judged


def trial_changes(then: TaskConclusion, now: TaskConclusion) -> list[int]:
    """Return the changes from trial to trial of a task: 1 better, -1 worse; only where both were judged."""
    return [
        (after == "passed") - (before == "passed")
        for before, after in zip(then.trials, now.trials, strict=False)
        if before in ("passed", "failed") and after in ("passed", "failed")
    ]


def status_by_verdicts(trial: TrialOutcome) -> TrialStatus:
    """Return the status of a trial by its verdicts.

    One that passed without any graders is skipped, one that a checkpoint has stopped has failed.
    """
    if trial.was_stopped_as_wrong:
        return "failed"
    return "skipped" if is_unjudged(trial) else trial.status


def task_verdict(task: TaskOutcome) -> TaskVerdict:
    """Return the verdict that follows from the trials; a worse one that is written stays.

    Upstream calls a task failed whose trials all broke.
    """
    ended = [trial for trial in task.trials if not trial.stopped]
    if not ended:
        match task.status:
            case "failed" if task.error:
                # A hook failed: no answer was graded.
                return "errored"
            case "error":
                return "errored"
            case "skipped":
                return "lost" if task.trials else "not run"
            case written:
                return "lost" if task.trials else written
    match task_status([status_by_verdicts(trial) for trial in ended], task.pass_rate):
        case "error":
            return "errored"
        case found if "failed" in (found, task.status):
            return "failed"
        case found:
            return "errored" if task.status == "error" else found


def _reason(
    verdict: TaskVerdict, error: str, graders: Sequence[GraderConclusion], *, has_graders: bool
) -> str:
    match verdict:
        case "passed":
            return ""
        case "failed":
            return f"not passed: {_names(graders, 'failed') or 'the task'}"
        case "errored":
            return (
                error or f"could not grade: {_names(graders, 'errored') or 'the task'}{_why_broken(graders)}"
            )
        case "skipped":
            waiting = _names(graders, "pending")
            if waiting:
                return f"waits for a review: {waiting}"
            without = _NONE_REQUIRED if graders else NO_GRADER
            return error or ("its answers were not graded" if has_graders else without)
        case "lost":
            return error or "no trial came to its end"
        case "not run":
            return error or "it did not run"


def _why_broken(graders: Sequence[GraderConclusion]) -> str:
    """Return the feedback of the first grader that broke, "" without any."""
    feedback = next((grader.feedback for grader in graders if grader.verdict == "errored"), "")
    line = next(iter(feedback.removeprefix(COULD_NOT_GRADE).strip().splitlines()), "")
    return f": {line}" if line else ""


def _names(graders: Sequence[GraderConclusion], verdict: GraderVerdict) -> str:
    return ", ".join(grader_label(grader.name) for grader in graders if grader.verdict == verdict)


def _graders(ended: Sequence[TrialOutcome]) -> Iterator[GraderConclusion]:
    found: dict[str, list[Validation]] = {}
    for trial in ended:
        for name, verdict in verdicts_of(trial):
            found.setdefault(name, []).append(verdict)
    for name, verdicts in found.items():
        yield conclude_grader(name, verdicts)


def conclude_grader(name: str, verdicts: Sequence[Validation]) -> GraderConclusion:
    """Return a grader's conclusion over some trials; there is at least one."""
    outcomes: list[GraderVerdict] = [_grader_verdict(verdict) for verdict in verdicts]
    worst = _worst_of(outcomes)
    telling = verdicts[-1] if worst == "passed" else verdicts[outcomes.index(worst)]
    advises = worst in ("failed", "errored") and not any(verdict.required for verdict in verdicts)
    return GraderConclusion(
        name=name,
        type=verdicts[0].type,
        verdict="advisory" if advises else worst,
        score=mean([verdict.score for verdict in verdicts if verdict.status != "pending"]),
        passed_trials=outcomes.count("passed"),
        trials=len(verdicts),
        feedback=telling.feedback,
    )


def _worst_of(verdicts: Sequence[GraderVerdict]) -> GraderVerdict:
    worse: tuple[GraderVerdict, ...] = ("failed", "errored", "pending")
    for verdict in worse:
        if verdict in verdicts:
            return verdict
    return "passed"


def _grader_verdict(verdict: Validation) -> GraderVerdict:
    if verdict.status == "pending":
        return "pending"
    if verdict.status == "error":
        return "errored"
    return "passed" if verdict.passed else "failed"


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
            reason = f": {_shown(task.error)}" if task.error else ""
            return Cause("environment", f"No trial came to its end{reason}.")
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
        count = f"{len(failed)} {'was' if len(failed) == 1 else 'were'}"
        # Broken trials were found neither right nor wrong.
        rest = "the others were" if task.passed_trials + len(failed) == task.ended_trials else count
        return Cause("skill", f"{passed}; {rest} found wrong by {_listed(names)}.")
    alone = _contradicted(failed)
    if alone:
        where = f"in each of {counted(len(failed), 'trial')}, where all other graders pass"
        return Cause(
            "not known", f"Only `{grader_label(alone)}` fails, {where}: the answer or this grader is wrong."
        )
    return Cause("skill", f"The answer was found wrong by {_listed(names)}, and nothing contradicts that.")


def _silent(task: TaskConclusion) -> Mapping[str, tuple[str, str]]:
    """Return the failed checks that judge the answer in no trial, with the kind and the reason."""
    found: dict[str, tuple[str, str] | None] = {}
    for trial in task.task.trials:
        for name, verdict in () if trial.stopped else verdicts_of(trial):
            if verdict.shown_status == "graded" and not verdict.passed:
                why = unjudged_reason(verdict.details)
                found[name] = None if why is None else found.get(name, why)
    return {name: why for name, why in found.items() if why is not None}


def _of_silent(names: Sequence[str], found: Mapping[str, tuple[str, str]]) -> Cause:
    kind, why = found[names[0]]
    more = f"; neither did {_listed(names[1:])}" if names[1:] else ""
    end = f"{_shown(why)}{more}." if more else _ended(why)
    sentence = f"`{grader_label(names[0])}` said nothing of the answer: {end}"
    # A grader that cannot start or be evaluated is at fault itself; one that hangs or raises may do so
    # because of the agent's files.
    return (
        Cause("test", sentence)
        if kind in ("start", "unusable", "silent")
        else Cause("not known", f"{sentence} {_EITHER}")
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
        verdicts = list((trial.validations or {}).values())
        against = [verdict.name for verdict in verdicts if not verdict.passed]
        if len(against) != 1 or len(verdicts) - 1 < _LEAST_SIBLINGS:
            return ""
        alone.add(against[0])
    return alone.pop() if len(alone) == 1 and len(failed) >= _LEAST_TRIALS else ""


def _session_error(trial: TrialOutcome) -> str:
    for event in trial.events:
        if event.get("type") == "session.error":
            return _shown(str(event.get("message") or event.get("content") or "the agent reported an error"))
    return ""


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{grader_label(name)}`" for name in names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"


def _of_broken(grader: GraderConclusion, task: TaskConclusion) -> Cause:
    why = _ended(grader.feedback.removeprefix(COULD_NOT_GRADE))
    verdicts = [
        verdict for trial in task.task.trials for name, verdict in verdicts_of(trial) if name == grader.name
    ]
    lost = [unjudged_reason(verdict.details) for verdict in verdicts if verdict.status == "error"]
    # A judge whose provider fails is neither the answer nor its test.
    of_provider = bool(lost) and all(found is not None and found[0] == "surroundings" for found in lost)
    return Cause(
        "environment" if of_provider else "test", f"`{grader_label(grader.name)}` could not grade: {why}"
    )


def _shown(text: str) -> str:
    return cut(" ".join(text.split()).rstrip("."), _SHOWN)


def _ended(text: str) -> str:
    """Return a reason as the end of a sentence: a question or a cut one has its punctuation already."""
    line = _shown(text)
    return line if line.endswith(("?", "!", "…")) else f"{line}."
