"""The ``expected`` block of a task, graded like three more graders."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from waza_engine.graders.matching.strings import line_end_words, lowered
from waza_engine.results.record import Validation
from waza_engine.runs.grading.judged_rules import rule_words
from waza_engine.spec.expected import Expected
from waza_engine.vocabulary import EXPECTED_LISTS, Check

NAMES = CONTAINS, NOT_CONTAINS, CONTAINS_ANY = tuple(f"_{key}" for key in EXPECTED_LISTS)


def expectations(expected: Expected, output: str) -> Iterator[Validation]:
    """Yield the verdict of each list that is not empty. Texts are compared without regard to case."""
    answer = lowered(output)
    if expected.output_contains:
        yield _all_hold(
            CONTAINS,
            expected.output_contains,
            lambda text: lowered(text) in answer,
            lambda text: (
                f"the answer does not contain `{text}`"
                + line_end_words(answer, lambda answer: lowered(text) in answer)
            ),
        )
    if expected.output_not_contains:
        yield _all_hold(
            NOT_CONTAINS,
            expected.output_not_contains,
            lambda text: lowered(text) not in answer,
            lambda text: f"the answer contains `{text}`",
        )
    if expected.output_contains_any:
        yield _any_holds(expected.output_contains_any, answer)


def _all_hold(
    name: str, texts: Sequence[str], holds: Callable[[str], bool], complaint: Callable[[str], str]
) -> Validation:
    key = name.removeprefix("_")
    checks = [
        Check((key, index), holds(text), "" if holds(text) else complaint(text), rule=text)
        for index, text in enumerate(texts)
    ]
    failures = [check.message for check in checks if not check.passed]
    return Validation(
        name=name,
        type="expected",
        score=(len(checks) - len(failures)) / len(checks),
        passed=not failures,
        feedback="; ".join(failures) or "All expectations hold",
        checks=checks,
    )


def _any_holds(texts: Sequence[str], answer: str) -> Validation:
    hit = next((text for text in texts if lowered(text) in answer), None)
    listed = ", ".join(f"`{text}`" for text in texts)
    feedback = f"the answer contains none of {listed}" if hit is None else f"The answer contains `{hit}`"
    complaint = feedback if hit is None else ""
    return Validation(
        name=CONTAINS_ANY,
        type="expected",
        score=0.0 if hit is None else 1.0,
        passed=hit is not None,
        feedback=feedback,
        checks=[Check(("output_contains_any",), hit is not None, complaint, rule=rule_words(texts))],
    )
