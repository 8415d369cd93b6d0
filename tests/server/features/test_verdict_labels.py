"""Labels in the few characters that a line has room for; what has no room is in a tooltip."""

import pytest

from waza_language_server.features.scores.inlay_hints import LONGEST_LINE, InlayHint, shortened_hints
from waza_language_server.features.scores.verdict_labels import (
    LONGEST_REASON,
    error_label,
    share_label,
    sign_of,
)
from waza_language_server.text.line_index import LineIndex


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
def test_a_task_is_wrong_or_flaky_by_its_trials(judged: list[tuple[int, int]], sign: str) -> None:
    assert sign_of(judged) == sign


def test_what_fails_is_counted_behind_a_cross_and_what_passes_behind_other_signs() -> None:
    assert [share_label(sign, 2, 3, "task") for sign in "✗◐✓"] == [
        "✗ 1 of 3 tasks",
        "◐ 2/3 tasks",
        "✓ 2/3 tasks",
    ]


LINES = LineIndex("name: one\nname: two\n")


@pytest.mark.parametrize(
    ("label", "shown"),
    [
        ("✗ 0.67 1 of 3 tasks", "✗ 0.67 1 of 3 tasks"),
        ("✗ 0.67 1 of 3 tasks · stale: a_long_name.yaml +12 −3", "✗ 0.67 1 of 3 tasks · stale"),
        ("✗ 0.67 10000000 of 30000000 tasks of a long name", "✗ 0.67"),
        (f"! {'x' * 60}", f"! {'x' * 40}…"),
        (f"! {'x' * 60} · stale", f"! {'x' * 32}… · stale"),
    ],
)
def test_a_long_label_loses_its_last_parts_and_the_tooltip_has_all(label: str, shown: str) -> None:
    (hint,) = shortened_hints([InlayHint(9, label, "told")], LINES)
    assert hint.label == shown
    assert hint.tooltip == ("told" if shown == label else f"`{label}`\n\ntold")
    assert hint.stale == ("stale" in label)


def test_a_hint_without_room_is_told_in_the_hover_of_the_one_before_it() -> None:
    hints = [InlayHint(9, "✗ 3 of 10 tasks", "suite"), InlayHint(9, "… 0.50 → 0.60 → 0.70 flaky 7/9", "runs")]
    (hint,) = shortened_hints(hints, LINES)
    assert (hint.label, hint.tooltip) == (
        "✗ 3 of 10 tasks",
        "suite\n\n`… 0.50 → 0.60 → 0.70 flaky 7/9`\n\nruns",
    )


def test_a_history_goes_before_the_reason_of_a_stale_verdict() -> None:
    label = "✗ 2 of 3 tasks · stale: SKILL.md +2 −1"
    hints = [InlayHint(9, label, "suite"), InlayHint(9, "0.50 → 0.60", "runs", kind="history")]
    assert [hint.label for hint in shortened_hints(hints, LINES)] == [label]


def test_each_line_has_its_own_room() -> None:
    hints = [InlayHint(at, "✓" * LONGEST_LINE, "") for at in (9, 19)]
    assert shortened_hints(hints, LINES) == hints
