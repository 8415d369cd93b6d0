"""Where two texts differ, whether they are compared whole or an edit is known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waza_language_server.text import common_ends
from waza_language_server.text.common_ends import difference, note_edit

TEXTS = st.text("ab\n", max_size=80)


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_a_known_edit_gives_the_difference_of_the_whole_texts(
    front: str, gone: str, new: str, behind: str
) -> None:
    old, text = f"{front}{gone}{behind}", f"{front}{new}{behind}"
    note_edit(old, text, len(front), len(front) + len(gone))
    noted = difference(old, text)
    # Equal texts that are others: nothing is known of them.
    assert noted == difference("".join([old, "x"])[:-1], "".join([text, "x"])[:-1])


def test_a_known_edit_of_a_long_text_is_not_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    old = "name: a\n" * 100_000
    text = old[:400_000] + "b" + old[400_000:]
    note_edit(old, text, 400_000, 400_000)
    monkeypatch.setattr(common_ends, "common_head", None)
    assert difference(old, text) == (400_000, 400_000, 400_001)
