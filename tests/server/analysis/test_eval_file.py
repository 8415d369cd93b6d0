"""What an eval file as a whole shows: rows that run backwards, mock servers of one name."""

from __future__ import annotations

from tests.server.analysis.drawing import EVAL, drawn, fixed, problems

ROWS = EVAL.replace("tasks: [tasks/*.yaml]\n", "tasks_from: rows.csv\n")


def test_rows_that_run_backwards() -> None:
    text = ROWS + "range: [10, 2]\n"
    assert (
        drawn(text, "eval", fixes=True)
        == """
⋯
range: [10, 2]
        ^^ error bounds-reversed: The first row of `range` (10) must not be behind the last (2).
          = fix: Swap the two
"""
    )
    assert problems(fixed(text, "bounds-reversed", "eval"), "eval") == ()


def test_rows_that_are_fine() -> None:
    assert problems(ROWS + "range: [3, 3]\n", "eval") == ()
    assert problems(ROWS + "range: [0, 0]\n", "eval") == ()


def test_two_mock_servers_of_one_name() -> None:
    text = EVAL + "mcp_mocks:\n  - {name: a, fixtures: x}\n  - {name: ' a', fixtures: y}\n"
    (problem,) = problems(text, "eval")
    assert (problem.code, text[problem.span.start : problem.span.end]) == ("duplicate-mock-name", "' a'")
