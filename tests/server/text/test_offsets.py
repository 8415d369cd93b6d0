"""Offsets that move behind an edit, against a list of numbers in which each is moved."""

from __future__ import annotations

from bisect import bisect_right

from hypothesis import given
from hypothesis import strategies as st

from waza_language_server.text.offsets import Offsets

EDITS = st.lists(st.tuples(st.integers(0, 200), st.integers(0, 3), st.integers(0, 3), st.integers(-3, 9)))


@given(st.integers(0, 200), EDITS)
def test_after_any_edits_they_are_what_moving_each_of_them_gives(count: int, edits: list[tuple[int, ...]]):
    moved = [10 * number for number in range(count)]
    offsets = Offsets(moved)
    for wanted, gone, come, by in edits:
        start = min(wanted, len(moved))
        stop = min(start + gone, len(moved))
        new = [(moved[start - 1] if start else 0) + number for number in range(come)]
        moved = [*moved[:start], *new, *(number + by for number in moved[stop:])]
        offsets = offsets.changed(start, stop, new, by)
    assert list(offsets) == moved
    assert [offsets[index] for index in range(len(moved))] == moved
    assert [offsets[-1 - index] for index in range(len(moved))] == moved[::-1]
    assert offsets[3:-2] == tuple(moved[3:-2])


def test_more_edits_than_are_kept_apart_move_all_that_stands_behind_them():
    offsets, moved = Offsets(range(0, 4_000, 10)), [*range(0, 4_000, 10)]
    for index in range(0, 400, 2):
        offsets = offsets.changed(index, index + 1, (offsets[index],), 3)
        moved[index + 1 :] = [number + 3 for number in moved[index + 1 :]]
    assert list(offsets) == moved
    assert bisect_right(offsets, 2_500) == bisect_right(moved, 2_500)


def test_those_before_an_edit_stay_what_they_are():
    before = Offsets((0, 10, 20))
    before.changed(0, 1, (0,), 5)
    assert list(before) == [0, 10, 20]
