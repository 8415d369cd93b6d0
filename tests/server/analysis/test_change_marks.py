"""The `+` that a list of changes has in front of its lines, pasted with them."""

from __future__ import annotations

import pytest

from tests.server.analysis.drawing import TASK, graders, problems
from waza_language_server.syntax.tried_edits import apply

GRADER = "  - type: text\n    name: a\n    config:\n      contains: [done]\n"


@pytest.mark.parametrize("row", ["  prompt: Go", "inputs:", "name: T"])
def test_a_marked_key_loses_its_mark(row: str) -> None:
    text = TASK.replace(f"{row}\n", f"+{row}\n")
    [problem] = problems(text)
    assert text[problem.span.start - 1 : problem.span.end] == "\n+"
    assert apply(text, problem.fixes[0].edits) == TASK


@pytest.mark.parametrize("row", ["  - type: text", "    name: a", "      contains: [done]"])
def test_a_marked_line_of_a_grader_is_one_problem(row: str) -> None:
    right = graders(GRADER)
    [problem] = problems(text := right.replace(f"{row}\n", f"+{row}\n"))
    assert text[problem.span.start : problem.span.end] == "+"
    assert apply(text, problem.fixes[0].edits) == right


def test_the_marks_of_several_lines_go_together() -> None:
    right = graders(GRADER)
    text = right.replace(GRADER, "".join(f"+{row}" for row in GRADER.splitlines(keepends=True)))
    [problem] = problems(text)
    assert problem.fixes[0].title == "Delete every `+`"
    assert apply(text, problem.fixes[0].edits) == right


def test_a_mark_in_place_of_the_first_blank_becomes_one() -> None:
    right = graders(GRADER)
    [problem] = problems(text := right.replace("\n      contains", "\n+     contains"))
    assert apply(text, problem.fixes[0].edits) == right


def test_a_mark_is_told_beside_another_slip() -> None:
    right = graders(GRADER).replace("Go\n", "Go\n  context: {a: b}\n").replace("[done]", "[done")
    text = right.replace("  prompt", "+  prompt")
    mark, other = problems(text)
    assert (text[mark.span.start], text[other.span.start]) == ("+", "[")
    assert apply(text, mark.fixes[0].edits) == right


def test_a_plus_elsewhere_is_no_mark() -> None:
    assert problems(TASK.replace("Go", "|\n    + a\n    +b: c")) == ()
