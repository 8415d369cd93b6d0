"""The `expected` block of a task is graded as upstream recorded it, letter case of every script included."""

import json
from typing import Any

import pytest

from tests.shared_corpus import VERDICTS
from waza_engine.runs.grading.graders import expectations
from waza_engine.spec.expected import Expected


def recorded() -> list[dict[str, Any]]:
    path = VERDICTS / "grader_cases.jsonl"
    if not path.is_file():
        return []
    cases = (json.loads(line) for line in path.read_text("utf-8").splitlines())
    return [case for case in cases if case["grader"].get("type") == "expected"]


@pytest.mark.parametrize("case", recorded(), ids=lambda case: case["id"])
def test_grades_as_recorded(case: dict[str, Any]) -> None:
    grader, wanted = case["grader"], case["expected"]
    (validation,) = expectations(Expected.model_validate(grader["config"]), case["context"]["output"])
    assert (validation.name, validation.score) == (grader["name"], pytest.approx(wanted["score"]))
    assert validation.passed == wanted["passed"]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        pytest.param("istanbul", "İstanbul", id="the dotted capital I is one letter"),
        pytest.param("ΣΊΣΥΦΟΣ", "σίσυφοσ", id="a final sigma is no letter of its own"),
        pytest.param("σίσυφοσ", "ΣΊΣΥΦΟΣ", id="a capital sigma at the end becomes the inner one"),
    ],
)
def test_letter_case_is_compared_letter_by_letter(text: str, answer: str) -> None:
    expected = Expected(output_contains=(text,), output_contains_any=(text,))
    assert [validation.passed for validation in expectations(expected, answer)] == [True, True]
    refused = Expected(output_not_contains=(text,))
    assert [validation.passed for validation in expectations(refused, answer)] == [False]
