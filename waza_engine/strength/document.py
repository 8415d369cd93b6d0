"""The mutation scores of graders, for programs and for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from waza_engine.counting import counted
from waza_engine.graders.explanation import shortened
from waza_engine.strength.measuring import GraderStrength, RejectedReference, WeakCheck
from waza_engine.vocabulary import shown_grader

Document = dict[str, Any]


def strength_document(found: Sequence[GraderStrength]) -> list[Document]:
    """Return an object for each grader.

    ``strength`` is 0..1, null if unknown; ``finding`` is null, ``never fails`` or ``never passes``;
    ``not_measured`` replaces the numbers, and says why.
    """
    return [_grader(each) for each in found]


def weak_check_sentence(check: WeakCheck) -> str:
    """Return in one sentence why a check that passes on everything is weak."""
    where = " in which its file could be read" if check.of_file else ""
    return (
        f"This passes on every recorded trial and on all {check.tried} changes of them{where}, so it decides "
        "nothing; the other rules beside it do."
    )


def rejected_sentence(found: GraderStrength, rejected: RejectedReference) -> str:
    """Return in one sentence that a grader fails a reference that is known to be good."""
    why = shortened(rejected.feedback.rstrip("."))
    return (
        f"`{shown_grader(found.name)}` fails on the reference of the task `{rejected.task}`, "
        f"an answer known to be good: {why}."
    )


def finding_sentence(found: GraderStrength) -> str:
    """Return in one sentence why a grader is weak and how that is known, "" for all others."""
    name = shown_grader(found.name)
    trials = f"{counted(found.trials, 'recorded trial')}"
    if found.finding == "never fails":
        return (
            f"`{name}` passes on everything: on {trials} and on all {found.asked} changes of them "
            f"({', '.join(found.asked_kinds)})."
        )
    if found.finding == "never passes":
        return (
            f"`{name}` fails on everything: on {trials}, where other graders passed, and on all "
            f"{found.asked} changes of them, what it names included."
        )
    return ""


def _grader(found: GraderStrength) -> Document:
    named: Document = {"name": found.name, "type": found.type, "tasks": list(found.tasks)}
    if found.not_measured:
        return {**named, "strength": None, "finding": None, "not_measured": found.not_measured}
    return {
        **named,
        "strength": found.strength,
        "trials": found.trials,
        "passed": found.passed,
        "caught": found.caught,
        "tried": found.tried,
        "kinds": {kind: {"caught": caught, "tried": tried} for kind, (caught, tried) in found.kinds.items()},
        "finding": found.finding or None,
        **({"message": finding_sentence(found)} if found.finding else {}),
        "passed_on": list(found.asked_kinds) if found.finding == "never fails" else [],
        "asked": found.asked,
        "weak_checks": [
            {"path": list(check.path), "tried": check.tried, "message": weak_check_sentence(check)}
            for check in found.weak_checks
        ],
        "rejected_references": [
            {"task": each.task, "message": rejected_sentence(found, each)} for each in found.rejected
        ],
    }
