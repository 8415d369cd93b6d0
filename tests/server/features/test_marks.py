"""Marks say in one word what hints say in few."""

from __future__ import annotations

import pytest

from waza_language_server.features.scores.inlay_hints import InlayHint
from waza_language_server.features.scores.marks import marks_of
from waza_language_server.text.line_index import LineIndex


@pytest.mark.parametrize(
    ("label", "state"),
    [("✓ 1.00", "passed"), ("⚡ ✗ 0/3", "failed"), ("↻ ◐ 1/2 trials", "failed"), ("⚡ ! too slow", "error")],
)
def test_a_verdict_has_its_mark_however_it_was_found(label: str, state: str) -> None:
    assert [mark.state for mark in marks_of([InlayHint(0, label, "")], LineIndex("name: a"))] == [state]
