"""Incremental parsing of one section after an edit inside it, if the cuts around it stay the same."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise

from waza_engine.frozen import frozen
from waza_engine.steps import Steps
from waza_language_server.syntax.cuts import BOUNDARY, MARKER_BEHIND_BREAK, has_lone_returns
from waza_language_server.syntax.green import Placed
from waza_language_server.syntax.items import Items
from waza_language_server.syntax.known_pieces import Known
from waza_language_server.syntax.piece import Piece, noteworthy
from waza_language_server.syntax.pieces import (
    Moved,
    Section,
    build_list,
    first_item,
    item_starts,
    read_entry,
    read_item,
    read_section,
)
from waza_language_server.text.chunks import Chunks
from waza_language_server.text.offsets import Offsets

_FIXED = 2
"""Characters at the start of a section, and from the dash of an item on, that decide its kind."""
_MOST_CUT_ANEW = 50
"""The most items that an edit may touch or add; beyond it they are parsed with the rest."""


@frozen()
class Change:
    """Characters ``start:old_end`` of the old text became ``start:new_end`` of the new one."""

    start: int
    old_end: int
    new_end: int

    @property
    def delta(self) -> int:
        """Return the change in the length of the text."""
        return self.new_end - self.old_end


def changed_section(
    section: Section, start: int, end: int, old: str, body: str, change: Change, known: Known
) -> Steps[Section | None]:
    """Return the section ``old[start:end]`` parsed from the new text ``body``; None if in doubt.

    Sections that were parsed in vain are added to ``known``.
    """
    if section.items:
        return (yield from _changed_list(section, start, old, body, change, known))
    text = _changed_piece(start, end, _FIXED, old, body, change)
    return None if text is None else (yield from read_section(text, {}))


def _changed_list(
    section: Section, start: int, old: str, body: str, change: Change, known: Known
) -> Steps[Section | None]:
    first, last = (
        max(0, index) for index in _touched_items(section, change.start - start, change.old_end - start)
    )
    in_front = change.start < start + section.starts[0] + section.dash + _FIXED
    begin = 0 if in_front else section.starts[first]
    end = section.starts[last] + len(section.items[last].text)
    text = _changed_piece(
        start + begin, start + end, _FIXED if in_front else section.dash + _FIXED, old, body, change
    )
    if text is None:
        return None
    head, cut = section.head, 0
    if in_front:
        # The text between the key and the first item, and that item, are parsed again.
        found = first_item(text)
        if found is None or found.dash != section.dash:
            return None
        cut, head = found.start, (yield from read_entry(text[: found.start]))
        if len(head.children) != 2 or head.open:
            return None
    cuts = [cut, *(match.start() + 1 for match in item_starts(section.dash, text, cut)), len(text)]
    if len(cuts) > _MOST_CUT_ANEW:
        return None
    items: list[Piece] = []
    untouched = {item.text: item for item in section.items[first : last + 1]}
    for cut, stop in pairwise(cuts):
        item = untouched.get(text[cut:stop]) or (yield from read_item(text[cut:stop], section.dash))
        if item.open:
            known.items[item.text] = item
            return None
        items.append(item)
    delta, behind = change.delta, last + 1
    new = [(begin + cut, item) for cut, item in zip(cuts, items, strict=False)]
    starts = section.starts
    if delta or len(new) > 1 or last > first or in_front:
        starts = _exchanged_starts(starts, first, behind, [offset for offset, _ in new], delta)
    faulty = [each for each in section.faulty if each[0] < begin]
    if in_front and noteworthy(head):
        faulty.append((0, head))
    faulty += [part for part in new if noteworthy(part[1])]
    faulty += [(offset + delta, each) for offset, each in section.faulty if offset >= end]
    moved = Moved(_exchanged_children(section, first, behind, new, delta), faulty)
    kept = Chunks(section.items).spliced(first, behind, items)
    return build_list(section.length + delta, head, section.dash, starts, kept, moved)


def _touched_items(section: Section, start: int, end: int) -> tuple[int, int]:
    """Return the first and the last item that an edit touches; with a changed dash also the one before."""
    first = bisect_right(section.starts, start) - 1
    if first > 0 and start < section.starts[first] + section.dash + 2:
        first -= 1
    last = bisect_right(section.starts, end) - 1
    if last > first and end == section.starts[last]:
        last -= 1
    return first, max(first, last)


def _exchanged_starts(
    starts: Sequence[int], first: int, behind: int, new: Sequence[int], delta: int
) -> Sequence[int]:
    if isinstance(starts, Offsets):
        return starts.changed(first, behind, new, delta)
    return (*starts[:first], *new, *map(delta.__add__, starts[behind:]))


def _exchanged_children(
    section: Section, first: int, behind: int, new: Sequence[tuple[int, Piece]], delta: int
) -> Sequence[Placed]:
    """Return the items of the list with those of some pieces replaced and the later ones moved."""
    children = section.children[1].green.children
    at = bisect_left(children, section.starts[first], key=lambda placed: placed.green.start + placed.offset)
    rest = at + sum(len(item.children) for item in section.items[first:behind])
    read = [Placed(child.green, child.offset + start) for start, item in new for child in item.children]
    if isinstance(children, Items):
        return children.changed(at, rest, read, delta)
    later = (Placed(child.green, child.offset + delta) for child in children[rest:])
    return (*children[:at], *read, *later)


def _changed_piece(start: int, end: int, fixed: int, old: str, body: str, change: Change) -> str | None:
    """Return the new text of the piece ``old[start:end]``; None if the edit could move its cuts.

    The first ``fixed`` characters and the line break at the end decide the cuts, so they must be unchanged.
    """
    last = end if end == len(old) else end - (2 if old[end - 2 : end] == "\r\n" else 1)
    if change.start < start + fixed or change.old_end > last:
        return None
    text = body[start : end + change.delta]
    if BOUNDARY.search(text) or MARKER_BEHIND_BREAK.search(text) or has_lone_returns(text):
        return None
    return text
