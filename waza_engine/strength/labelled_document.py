"""Verdicts on labelled answers, for programs and for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from waza_engine.counting import counted
from waza_engine.graders.explanation import shortened
from waza_engine.strength.labelled import Judged, JudgedCase, Said
from waza_engine.vocabulary import shown_grader

Document = dict[str, Any]

_WORDS = {"good": "good", "alternative_valid": "valid alternative", "critical_bad": "bad"}
_ORDER: tuple[Judged, ...] = ("as labelled", "otherwise", "not decided", "left out")


def labelled_document(path: Path, found: Sequence[JudgedCase]) -> Document:
    """Return the ``file`` of labels and an object for each of its ``cases``.

    ``judged`` is ``as labelled``, ``otherwise``, ``not decided`` or ``left out``, and ``messages`` say why.
    """
    return {"file": str(path), "cases": [_case(each) for each in found]}


def labelled_summary(path: Path, found: Sequence[JudgedCase]) -> str:
    """Return in one line how many labelled answers were judged as labelled."""
    counts = Counter(each.judged for each in found)
    told = ", ".join(f"{counts[judged]} {judged}" for judged in _ORDER if counts[judged])
    return f"{path.name}: {counted(len(found), 'labelled answer')}: {told}"


def otherwise_sentences(found: JudgedCase) -> Iterator[str]:
    """Yield, a sentence each, where the graders contradict the label of an answer."""
    answer = f"{_WORDS[found.case.classification]} answer `{found.case.id}` to the task `{found.case.task}`"
    for said in found.rejected:
        yield f"`{shown_grader(said.grader)}` fails on the {answer}: {_why(said)}."
    if found.let_through:
        yield f"The {answer} passes all its graders: the suite would let it through."
    for said in found.differing:
        does, should = ("passes", "fail") if said.passed else ("fails", "pass")
        why = "" if said.passed else f": {_why(said)}"
        yield (
            f"`{shown_grader(said.grader)}` {does} on the {answer}, where its label says that it should "
            f"{should}{why}."
        )


def open_sentence(found: JudgedCase) -> str:
    """Return in one sentence why an answer is not judged, "" for one that is."""
    case = found.case
    if found.judged == "left out":
        return f"The answer `{case.id}` to the task `{case.task}` is left out: {case.left_out}."
    if found.judged != "not decided":
        return ""
    names = [f"`{shown_grader(each.grader)}` ({shortened(each.why.rstrip('.'))})" for each in found.not_asked]
    not_asked = f"not asked: {', '.join(names)}" if names else "not all of its graders were asked"
    asked = "the graders that were asked pass it" if _all_pass(found) else "some graders cannot be asked"
    asked = asked if found.said else "no grader was asked"
    return f"The answer `{case.id}` to the task `{case.task}` is not decided: {asked}; {not_asked}."


def _all_pass(found: JudgedCase) -> bool:
    return all(said.passed for said in found.said)


def _why(said: Said) -> str:
    return shortened(said.feedback.rstrip("."))


def _case(found: JudgedCase) -> Document:
    case = found.case
    messages = [*otherwise_sentences(found), open_sentence(found)]
    return {
        "id": case.id,
        "task": case.task,
        "classification": case.classification,
        "judged": found.judged,
        "let_through": found.let_through,
        "rejected_by": [said.grader for said in found.rejected],
        "differing": [said.grader for said in found.differing],
        "messages": [message for message in messages if message],
        "graders": [
            {
                "name": said.grader,
                "passed": said.passed,
                "expected_passed": said.expected,
                "feedback": said.feedback,
            }
            for said in found.said
        ],
        "not_asked": [{"name": each.grader, "reason": each.why} for each in found.not_asked],
    }
