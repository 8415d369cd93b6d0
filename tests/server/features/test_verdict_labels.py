"""Reasons of errors in the few characters that a line has room for."""

import pytest

from waza_language_server.features.scores.verdict_labels import (
    LONGEST_REASON,
    error_label,
    share_label,
    sign_of,
)


@pytest.mark.parametrize(
    ("reason", "label"),
    [
        ("not logged in to GitHub", "! not logged in to GitHub"),
        ("\n  first line \nsecond line", "! first line"),
        ("", "! error"),
        (
            "the judge model gpt-x is not deployed in this region, deploy it or choose another one",
            "! the judge model gpt-x is not deployed in this region…",
        ),
        ("x" * 70, f"! {'x' * 59}…"),
        ("/home/me/my suite #1/tasks/a.b.yaml:2: the quote is never closed", "! the quote is never closed"),
        ("/a b/eval.yaml: /a b/../agent.json:1: `output` is needed", "! `output` is needed"),
        (r"C:\Users\me\eval.yaml: nobody can judge", "! nobody can judge"),
        ("The grader could not grade: there is no judge", "! there is no judge"),
        ("/bin/sh is not there", "! /bin/sh is not there"),
        (
            "Grader exited with code 1: Traceback (most recent call last):\n"
            '  File "a.py", line 1, in <module>\n    raise KeyError("a")\nKeyError: \'a\'\n',
            "! KeyError: 'a'",
        ),
    ],
)
def test_a_mark_says_what_was_wrong_and_ends_behind_a_word(reason: str, label: str) -> None:
    assert error_label(reason) == label
    assert len(label) <= len("! ") + LONGEST_REASON


@pytest.mark.parametrize(
    ("judged", "sign"), [([(2, 2), (1, 1)], "✓"), ([(2, 2), (1, 2)], "◐"), ([(1, 2), (0, 1)], "✗"), ([], "✓")]
)
def test_a_task_without_a_trial_that_passes_is_wrong_and_one_with_some_is_flaky(
    judged: list[tuple[int, int]], sign: str
) -> None:
    assert sign_of(judged) == sign


def test_what_fails_is_counted_behind_a_cross_and_what_passes_behind_other_signs() -> None:
    assert [share_label(sign, 2, 3, "task") for sign in "✗◐✓"] == [
        "✗ 1 of 3 tasks",
        "◐ 2/3 tasks",
        "✓ 2/3 tasks",
    ]
