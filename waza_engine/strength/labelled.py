"""Grade labelled answers with a suite's graders, and report where they contradict the label.

Only graders that the answer alone decides are used: nothing else is recorded for a written answer. A good
answer must pass each of them. A bad one must fail one of its task: its graders catch it together, and if some
of them cannot be used, it is not reported as let through.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal

from waza_engine.executors.base import Cancellation
from waza_engine.runs.grading.graders import BuiltGrader, grade
from waza_engine.runs.regrading.regrade import GradableTask
from waza_engine.strength.expected import built_expectations
from waza_engine.strength.labels import LabelledCase
from waza_engine.strength.measuring import NO_EVIDENCE, reads_answers_alone, why_not_measured

Judged = Literal["as labelled", "otherwise", "not decided", "left out"]

NOT_RECORDED = "the record has no such task, or it was not asked for"
_BY_MORE = "more than the answer decides it"
_AT_CHECKPOINT = "what a checkpoint says is not graded"
_NO_GRADER = "the task has no such grader, or it was not asked for"


@dataclass(frozen=True, slots=True)
class Said:
    """A grader's verdict on an answer; ``expected`` is that of its check, None without one."""

    grader: str
    passed: bool
    feedback: str
    expected: bool | None = None


@dataclass(frozen=True, slots=True)
class NotAsked:
    """A grader that could not be asked of an answer, and why, one clause; ``checked``: a check names it."""

    grader: str
    why: str
    checked: bool = False


@dataclass(frozen=True, slots=True)
class JudgedCase:
    """A labelled answer and its task's verdicts.

    ``rejected`` are those that fail it though it is good, ``differing`` those that contradict their check;
    ``let_through``: it is bad, and all graders of its task pass it.
    """

    case: LabelledCase
    judged: Judged
    said: tuple[Said, ...] = ()
    not_asked: tuple[NotAsked, ...] = ()
    rejected: tuple[Said, ...] = ()
    differing: tuple[Said, ...] = ()
    let_through: bool = False


def judge_labelled(
    cases: Sequence[LabelledCase],
    tasks: Sequence[GradableTask],
    cancellation: Cancellation,
    *,
    all_graders: bool,
) -> list[JudgedCase]:
    """Return the verdicts on each case; ``all_graders``: none was left out by its name.

    Raises ``CancelledRunError``.
    """
    by_id: dict[str, GradableTask] = {}
    for task in tasks:
        by_id.setdefault(task.recorded.id, task)
    found: list[JudgedCase] = []
    for case in cases:
        task = by_id.get(case.task)
        if case.left_out or task is None:
            why = case.left_out or NOT_RECORDED
            found.append(JudgedCase(replace(case, left_out=why), "left out"))
        else:
            found.append(_judged(case, task, cancellation, all_graders=all_graders))
    return found


def _judged(
    case: LabelledCase, task: GradableTask, cancellation: Cancellation, *, all_graders: bool
) -> JudgedCase:
    graders = [*chain(task.task.graders, built_expectations(task.task))]
    said, not_asked = _asked(case, task, graders, cancellation)
    may_be_caught = bool(not_asked) or not all_graders or bool(task.task.spec.checkpoints)
    not_asked += _unknown(case, graders)
    rejected = tuple(
        each
        for each in said
        if case.classification != "critical_bad" and not each.passed and each.expected is not False
    )
    differing = tuple(
        each
        for each in said
        if each.expected is not None and each.expected != each.passed and each not in rejected
    )
    caught = any(not each.passed for each in said)
    bad = case.classification == "critical_bad"
    let_through = bad and bool(said) and not caught and not may_be_caught
    judged: Judged = "as labelled"
    if rejected or differing or let_through:
        judged = "otherwise"
    elif not said or (bad and not caught) or any(each.checked for each in not_asked):
        judged = "not decided"
    return JudgedCase(case, judged, tuple(said), tuple(not_asked), rejected, differing, let_through)


def _asked(
    case: LabelledCase, task: GradableTask, graders: Sequence[BuiltGrader], cancellation: Cancellation
) -> tuple[list[Said], list[NotAsked]]:
    """Return the verdicts on an answer, and the graders without one."""
    context = replace(task.context, output=case.answer)
    expected = {check.grader: check.passed for check in case.checks if not check.at_checkpoint}
    said: list[Said] = []
    not_asked: list[NotAsked] = []
    for built in graders:
        why = why_not_measured(built)
        if why == NO_EVIDENCE:
            # Its verdict is the same for every answer, and so for this one.
            why = ""
        elif not why and not reads_answers_alone(built):
            why = _BY_MORE
        if not why:
            (verdict,) = grade((built,), context, cancellation)
            if verdict.status == "graded":
                said.append(Said(built.name, verdict.passed, verdict.feedback, expected.get(built.name)))
                continue
            why = verdict.feedback
        not_asked.append(NotAsked(built.name, why, built.name in expected))
    return said, not_asked


def _unknown(case: LabelledCase, graders: Sequence[BuiltGrader]) -> list[NotAsked]:
    """Return the checks of a case that name no grader at the end of its task."""
    names = {built.name for built in graders}
    return [
        NotAsked(check.grader, _AT_CHECKPOINT if check.at_checkpoint else _NO_GRADER, checked=True)
        for check in case.checks
        if check.at_checkpoint or check.grader not in names
    ]
