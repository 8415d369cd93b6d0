"""`score`: a trial passes by the verdicts of its other graders. `binary`: a grader counts 1 or 0."""

import pytest

from tests.engine.graders.grading import grade, result
from waza_engine.graders.base import GraderError, GradingContext
from waza_engine.results.record import Validation
from waza_engine.runs.grading.graders import build_graders
from waza_engine.runs.grading.graders import grade as grade_all
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.scoring.task_scores import Graded, composite
from waza_engine.spec.grader_entry import GraderEntry

VERDICTS = {"a": Graded(1.0, True, weight=3), "b": Graded(0.5, False)}


@pytest.mark.parametrize(
    ("threshold", "expected"),
    [(0.875, (0.875, True)), (0.9, (0.875, False)), (None, (0.875, False)), (0, (0.875, True))],
)
def test_the_weighted_mean_decides(threshold: float | None, expected: tuple[float, bool]) -> None:
    assert result(grade("score", {"threshold": threshold}, verdicts=VERDICTS)) == expected


def test_the_feedback_names_what_failed() -> None:
    low = grade("score", {"threshold": 0.9}, verdicts=VERDICTS)
    assert low.feedback == "the score is 0.88, below 0.9; failed: `b`"
    assert grade("score", None, verdicts=VERDICTS).feedback == "failed: `b`"


def test_it_changes_no_mean() -> None:
    verdict = grade("score", None, verdicts=VERDICTS)
    others = tuple(VERDICTS.values())
    with_it = (*others, Graded(verdict.score, verdict.passed))
    assert composite(with_it).weighted_score == pytest.approx(composite(others).weighted_score)


@pytest.mark.parametrize(
    ("verdicts", "why"),
    [
        ({}, "no graders before it"),
        ({**VERDICTS, "c": Graded(0, False, status="error")}, "without the verdict of `c`"),
    ],
)
def test_without_verdicts_there_is_no_score(verdicts: dict[str, Graded], why: str) -> None:
    with pytest.raises(GraderError, match=why):
        grade("score", None, verdicts=verdicts)


def test_it_waits_for_a_person() -> None:
    pending = {**VERDICTS, "c": Graded(0, False, status="pending")}
    assert grade("score", {"threshold": 0.5}, verdicts=pending).status == "pending"


def verdicts_of(*entries: GraderEntry, **known: Validation) -> dict[str, Validation]:
    graders, _ = build_graders(entries)
    context = GradingContext(output="hello")
    return {each.name: each for each in grade_all(graders, context, RunCancellation(), known)}


HALF = GraderEntry(type="text", name="half", config={"contains": ["hello", "bye"]}, required=False)
SCORE = GraderEntry(type="score", name="score", config={"threshold": 0.5})


def test_it_reads_the_verdicts_before_it_and_those_that_are_known() -> None:
    assert verdicts_of(HALF, SCORE)["score"].passed
    assert not verdicts_of(SCORE, HALF)["score"].passed
    known = verdicts_of(HALF)["half"]
    assert verdicts_of(SCORE, half=known)["score"].passed


def test_a_binary_grader_counts_one_or_zero() -> None:
    binary = HALF.model_copy(update={"binary": True})
    assert [verdicts_of(each)["half"].score for each in (HALF, binary)] == [0.5, 0.0]
    whole = binary.model_copy(update={"config": {"contains": ["hello"]}})
    assert verdicts_of(whole)["half"].score == 1.0
