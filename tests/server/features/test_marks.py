"""Marks say in one word what hints say in few."""

import pytest

from waza_language_server.features.scores.inlay_hints import InlayHint
from waza_language_server.features.scores.marks import Mark, marks_of
from waza_language_server.features.scores.verdict_labels import HintKind
from waza_language_server.text.line_index import LineIndex


@pytest.mark.parametrize(
    ("label", "state"),
    [
        ("✓ 1.00", "passed"),
        ("⚡ ✗ 3 of 3", "failed"),
        ("↻ ◐ 1/2 trials", "failed"),
        ("⚡ ! too slow", "error"),
    ],
)
def test_a_verdict_has_its_mark_however_it_was_found(label: str, state: str) -> None:
    assert [mark.state for mark in marks_of([InlayHint(0, label, "")], LineIndex("name: a"))] == [state]


@pytest.mark.parametrize(("kind", "is_test"), [("score", True), ("verdict", True), ("check", False)])
def test_a_mark_says_whether_a_test_explorer_has_an_icon_there(kind: HintKind, is_test: bool) -> None:
    hints = [InlayHint(0, "✓", "", kind=kind)]
    assert [mark.is_test for mark in marks_of(hints, LineIndex("name: a"))] == [is_test]


def test_the_worst_of_a_line_stands_for_it_and_is_a_test_if_one_is() -> None:
    hints = [InlayHint(0, "✓ 1.00", ""), InlayHint(3, "✗", "", kind="check")]
    assert marks_of(hints, LineIndex("name: a")) == (Mark(0, "failed", stale=False, is_test=True),)
