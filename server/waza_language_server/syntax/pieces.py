"""Pieces: the parts of a document that are parsed on their own, so that an edit re-parses one of them.

The text is cut at the keys at column 0 and, if such a key holds a list, at the items of that list. A cut is
decided by single lines, never by earlier parse results, so the same text is always cut the same way. A piece
is a pure function of its own text; that is why pieces of the version before can be reused.

Two things can cross a cut, an open quote and an open bracket. Such a piece ends too early, strictly speaking,
and is tried again joined with the following ones; if that cannot be parsed either, it is repaired on its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from waza_engine.checkpoint import checkpoint
from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.syntax.green import Green, Placed
from waza_language_server.syntax.libyaml_events import Notes, Part, Reading, read, read_parts
from waza_language_server.syntax.repair import Repaired, repair_block, repair_entries, repair_items
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

_HEADER = compiled_later(
    r"""(?:[A-Za-z_][\w.-]*|"[\w .-]*"|'[\w .-]*')[ \t]*:(?:[ \t]+#[^\r\n]*|[ \t]*)(?:\r\n|\n)"""
)
_FIRST_ITEM = compiled_later(r"(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n|\n))*+( *)-(?=[ \t\r\n]|\Z)")
_ITEM = compiled_later(r"\n( *+)-(?=[ \t\r\n]|\Z)")


@frozen(eq=False)
class Section:
    """A key at column 0 with its value.

    ``items`` are its list items when it was cut at them.
    """

    length: int
    head: Piece
    children: Sequence[Placed]
    items: Sequence[Piece] = ()
    open: bool = False
    faulty: tuple[tuple[int, Piece], ...] = ()
    """The offset and piece of each fault, anchor or alias."""

    @property
    def text(self) -> str:
        """Return the source of the section; joined on demand."""
        return (
            self.head.text
            if not self.items
            else "".join([self.head.text, *(item.text for item in self.items)])
        )


def read_section(text: str, known: Mapping[str, Piece]) -> Section:
    """Parse one key at column 0 with its value.

    ``known`` holds items parsed before, by their text.
    """
    first = _first_item(text)
    if first is None:
        return section_of(read_entry(text))
    start, dash = first
    head = read_entry(text[:start])
    if len(head.children) != 2 or head.open:
        return section_of(read_entry(text))
    starts = [start, *(match.start() + 1 for match in item_starts(dash, text, start))]
    starts, items, still_open = _read_items(text, starts, dash, known)
    parts = list(zip(starts, items, strict=True))
    placed = [Placed(child.green, child.offset + start) for start, item in parts for child in item.children]
    faulty = tuple(part for part in ((0, head), *parts) if noteworthy(part[1]))
    key, empty = head.children[0], head.children[1].green
    end = starts[-1] + items[-1].end
    value = Green("sequence", starts[0] + dash, end, "block", "", empty.tag, empty.anchor, tuple(placed))
    return Section(len(text), head, (key, Placed(value)), tuple(items), still_open, faulty)


def _first_item(text: str) -> tuple[int, int] | None:
    """Return where the first item of a list starts in the text of a key, and the column of its dash."""
    header = _HEADER.match(text)
    first = _FIRST_ITEM.match(text, header.end()) if header else None
    return None if first is None else (first.start(1), len(first[1]))


def is_list(text: str) -> bool:
    """Return whether the text of a key at column 0 looks like one that holds a list."""
    return _first_item(text) is not None


def section_of(piece: Piece) -> Section:
    """Return the section of a key that was parsed in one go."""
    faulty = ((0, piece),) if noteworthy(piece) else ()
    return Section(len(piece.text), piece, piece.children, open=piece.open, faulty=faulty)


def outcast_section(text: str) -> Section:
    """Parse a key that belongs at column 0 and is one space away from it."""
    piece = read_entry(text)
    remove = Fix("Align the line", (Edit(Span(0, 1), ""),), preferred=True)
    line = text[1:].splitlines()[0].rstrip()
    message = "This line does not line up with the other keys of the file; do not indent it."
    fault = SyntaxFault(Span(1, 1 + len(line)), message, "yaml-indentation", fixes=(remove,))
    piece = replace(piece, faults=(fault, *(other for other in piece.faults if other.span != fault.span)))
    return Section(len(text), piece, piece.children, open=piece.open, faulty=((0, piece),))


def item_starts(dash: int, text: str, start: int) -> list[re.Match[str]]:
    """Match the line break before each item whose dash is at column ``dash``."""
    return [match for match in _ITEM.finditer(text, start) if match.end(1) - match.start(1) == dash]


def read_entry(text: str) -> Piece:
    """Read ``key: value`` at column 0."""
    reading = read(text)
    root = reading.root
    # A mapping that starts elsewhere has properties of its own, which concern the entire document.
    start = int(text.startswith(" "))
    shape = (root.kind, root.style, root.start) if root is not None else None
    if reading.error is None and root is not None and shape == ("mapping", "block", start):
        return strict_piece(text, reading, root.children, root.end)
    return repaired_piece(text, repair_entries(text, reading), reading)


def read_item(text: str, dash: int) -> Piece:
    """Read ``- item`` with its dash at the given column."""
    reading = read(text)
    root = reading.root
    if reading.error is None and root is not None and (root.kind, root.style) == ("sequence", "block"):
        return strict_piece(text, reading, root.children, max(root.end, dash + 1))
    parent = 0 if dash and not item_starts(0, text, 0) else -1
    return repaired_piece(text, repair_items(text, parent, reading), reading)


def read_whole(text: str) -> Piece:
    """Parse a document that is not a block mapping at column 0."""
    reading = read(text)
    if reading.error is None:
        return _strict_whole(text, reading)
    root, repaired = repair_block(text, reading)
    return repaired_piece(text, repaired, reading, root)


def strict_whole(text: str) -> Piece | None:
    """Read a document of any shape; None when it has a fault."""
    reading = read(text)
    return None if reading.error is not None else _strict_whole(text, reading)


def _strict_whole(text: str, reading: Reading) -> Piece:
    root = Placed(reading.root) if reading.root else None
    return strict_piece(text, reading, (), reading.root.end if reading.root else 0, root)


def _read_items(
    text: str, cuts: list[int], dash: int, known: Mapping[str, Piece]
) -> tuple[list[int], list[Piece], bool]:
    """Return the offsets of items, the items, and whether the text ends inside one of them."""
    cuts.append(len(text))
    starts: list[int] = []
    items: list[Piece] = []
    still_open = False
    joining = Joining(lambda i, j: text[cuts[i] : cuts[j]], len(cuts) - 1, "sequence", known)
    index, count = 0, len(cuts) - 1
    together = Together(text, cuts, "sequence", known.__contains__)
    while index < count:
        start = cuts[index]
        part = text[start : cuts[index + 1]]
        piece = known.get(part) or together.piece(index)
        if piece is None:
            piece = read_item(part, dash)
            checkpoint()
        index += 1
        if piece.open:
            joined, stop = joining.join(index - 1)
            if joined is not None:
                piece, index = joined, stop
            still_open = still_open or (joined is None and stop == count)
        starts.append(start)
        items.append(piece)
    return starts, items, still_open


@frozen(eq=False)
class Piece:
    """A part of the text and its parse result. Offsets count from its start.

    ``children`` are pairs of a mapping or items of a list; ``root`` is set if the piece is a document of
    another shape. ``open`` means that the text ended too early: the following text could change its meaning.
    """

    text: str
    children: Sequence[Placed]
    end: int
    faults: tuple[SyntaxFault, ...] = ()
    anchors: tuple[str, ...] = ()
    aliases: tuple[tuple[str, int, int], ...] = ()
    open: bool = False
    root: Placed | None = None


def noteworthy(piece: Piece) -> bool:
    """Return whether a piece has faults, anchors or aliases, which concern the entire document."""
    return bool(piece.faults or piece.anchors or piece.aliases)


def strict_piece(
    text: str, notes: Notes, children: Sequence[Placed], end: int, root: Placed | None = None
) -> Piece:
    """Return the piece of a result without a fault."""
    faults = tuple(notes.duplicates)
    return Piece(text, children, end, faults, tuple(notes.anchors), tuple(notes.aliases), root=root)


def repaired_piece(text: str, repaired: Repaired, reading: Reading, root: Placed | None = None) -> Piece:
    """Return the piece that was repaired because its result has a fault."""
    is_open = reading.error is not None and reading.error.at_end
    return Piece(
        text,
        tuple(repaired.children),
        max([repaired.end, *(child.green.end + child.offset for child in repaired.children[-1:])]),
        tuple(repaired.faults),
        tuple(repaired.anchors),
        tuple(repaired.aliases),
        is_open,
        root,
    )


MOST_WASTED = 2_000
"""The budget for failed joins of one list, or of one document, in units of ``Reading.work``."""

MOST_TOGETHER = 300
_LONGEST_TOGETHER = 50_000
"""The most pieces, and characters, to parse in one go; more are parsed in several."""


class Together:
    """Parses consecutive pieces in one go, with the same results as one by one, at a third of the cost.

    The pieces are ``text[cuts[i]:cuts[i + 1]]``. ``kind`` is the node that they form together: a block
    mapping or a block sequence. ``is_apart`` returns whether a piece is known or parsed in another way.
    """

    def __init__(
        self,
        text: str,
        cuts: Sequence[int],
        kind: Literal["mapping", "sequence"],
        is_apart: Callable[[str], bool],
    ) -> None:
        self._text = text
        self._cuts = cuts
        self._kind: Literal["mapping", "sequence"] = kind
        self._is_apart = is_apart
        self._pieces: dict[int, Piece] = {}
        self._most = MOST_TOGETHER
        self._refused = -1

    def piece(self, index: int) -> Piece | None:
        """Return a piece that is not apart; None if it must be parsed on its own.

        After such a piece fewer are tried at first, so that little is parsed in vain.
        """
        piece = self._pieces.pop(index, None)
        if piece is not None or index == self._refused:
            return piece
        stop = self._stop(index)
        if stop - index < 2:
            return None
        start, cuts = self._cuts[index], self._cuts[index : stop + 1]
        parts = read_parts(self._text[start : cuts[-1]], [cut - start for cut in cuts], self._kind)
        checkpoint()
        if len(parts) < stop - index:
            self._refused = index + len(parts)
            self._most = 2
        else:
            self._most = min(2 * self._most, MOST_TOGETHER)
        for number, part in enumerate(parts):
            self._pieces[index + number] = self._piece(self._text[cuts[number] : cuts[number + 1]], part)
        return self._pieces.pop(index, None)

    def _stop(self, index: int) -> int:
        """Return the piece before which to stop parsing."""
        cuts, stop = self._cuts, index + 1
        last = min(len(cuts) - 1, index + self._most)
        while (
            stop < last
            and cuts[stop + 1] - cuts[index] <= _LONGEST_TOGETHER
            and not self._is_apart(self._text[cuts[stop] : cuts[stop + 1]])
        ):
            stop += 1
        return stop

    def _piece(self, text: str, part: Part) -> Piece:
        end = max(child.green.end for child in part.children)
        if self._kind == "sequence":
            end = max(end, text.index("-") + 1)
        return strict_piece(text, part.notes, part.children, end)


class Joining:
    """Tries to join open pieces with the following ones.

    ``texts(i, j)`` is the text of pieces i up to j, ``count`` the number of pieces. ``kind`` is the expected
    result: a block mapping or a block sequence. ``known`` holds pieces parsed before, by their text.
    """

    def __init__(
        self,
        texts: Callable[[int, int], str],
        count: int,
        kind: Literal["mapping", "sequence"],
        known: Mapping[str, Piece],
    ) -> None:
        self._texts = texts
        self._count = count
        self._kind = kind
        self._known = known
        self._wasted = 0

    def join(self, first: int) -> tuple[Piece | None, int]:
        """Try to join the open piece ``first`` with the following ones.

        The number of joined pieces doubles, so an open quote costs no more than parsing the rest of the text
        twice. Return the piece and the index after it. Without a piece the index shows whether the text ended
        before the join was rejected (it is ``count`` then). When too much was parsed in vain, no further
        joins are tried: in a valid text every join succeeds.
        """
        size, work = 2, 0
        while self._wasted < MOST_WASTED:
            stop = min(first + size, self._count)
            text = self._texts(first, stop)
            piece, cost = self._known.get(text), 0
            if piece is None:
                piece, cost = _strict_or_open(text, self._kind)
                checkpoint()
            work += cost
            if piece is not None and not piece.open:
                return piece, stop
            if piece is None or stop == self._count:
                self._wasted += work
                return None, first if piece is None else stop
            size *= 2
        return None, first


def _strict_or_open(text: str, kind: str) -> tuple[Piece | None, int]:
    """Parse a block of a kind strictly; return it and its cost.

    A piece is open if only its end is missing; None if it cannot be parsed.
    """
    reading = read(text)
    root = reading.root
    piece: Piece | None = None
    if reading.error is not None:
        piece = Piece(text, (), 0, open=True) if reading.error.at_end else None
    elif (
        root is not None
        and (root.kind, root.style) == (kind, "block")
        and not (kind == "mapping" and root.start)
    ):
        piece = strict_piece(text, reading, root.children, root.end)
    return piece, reading.work
