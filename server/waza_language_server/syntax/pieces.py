"""Pieces: the parts of a document that are read on their own, so that an edit re-reads one of them.

The text is cut at the keys that stand at column 0 and, where such a key holds a list, at the items of that
list. A cut is decided by single lines, never by what was read before, so the same text is always cut the same
way. A piece is a pure function of its own text; that is why pieces of the version before can be used again.

Two things can cross a cut, an open quote and an open bracket. Such a piece ends too early, strictly speaking,
and is tried again joined with what follows; when that cannot be read either, it is repaired on its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from waza_language_server.syntax.events import Reading, read
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.syntax.nodes import Green, Placed
from waza_language_server.syntax.repair import Repaired, repair_block, repair_entries, repair_items
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

MOST_WASTED = 2_000
"""What joining the pieces of one list, or of one document, may cost in vain, in units of ``Reading.work``."""

_HEADER = re.compile(
    r"""(?:[A-Za-z_][\w.-]*|"[\w .-]*"|'[\w .-]*')[ \t]*:(?:[ \t]+#[^\r\n]*|[ \t]*)(?:\r\n|\n)"""
)
_FIRST_ITEM = re.compile(r"(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n|\n))*+( *)-(?=[ \t\r\n]|\Z)")


_ITEM = re.compile(r"\n( *+)-(?=[ \t\r\n]|\Z)")


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A part of the text and what was read from it. Offsets count from its start.

    ``children`` are pairs of a mapping or items of a list; ``root`` is set when the piece is a document of
    another shape. ``open`` says that the text ended too early: what follows could change how it reads.
    """

    text: str
    children: tuple[Placed, ...]
    end: int
    faults: tuple[SyntaxFault, ...] = ()
    anchors: tuple[str, ...] = ()
    aliases: tuple[tuple[str, int, int], ...] = ()
    open: bool = False
    root: Placed | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """A key at column 0 with its value.

    ``starts`` and ``items`` are its list items when it was cut at them.
    """

    text: str
    head: Piece
    children: tuple[Placed, ...]
    dash: int = -1
    starts: tuple[int, ...] = ()
    items: tuple[Piece, ...] = ()
    open: bool = False
    faulty: tuple[tuple[int, Piece], ...] = ()
    """Offset and piece wherever there is a fault, an anchor or an alias."""


def read_section(text: str, known: Mapping[str, Piece]) -> Generator[None, None, Section]:
    """Read one key at column 0 with its value, with a pause after every item of a list.

    ``known`` holds items read before, by their text.
    """
    header = _HEADER.match(text)
    first = _FIRST_ITEM.match(text, header.end()) if header else None
    if first is None:
        return plain_section(text)
    dash = len(first[1])
    start = first.end() - 1 - dash
    head = read_entry(text[:start])
    if len(head.children) != 2 or head.open:
        return plain_section(text)
    starts = [start, *(match.start() + 1 for match in item_starts(dash, text, first.end() - 1))]
    starts, items, still_open = yield from _read_items(text, starts, dash, known)
    return build_list(text, head, dash, starts, items, still_open=still_open)


def plain_section(text: str) -> Section:
    """Read one key at column 0 and its value in one go."""
    return section_of(read_entry(text))


def section_of(piece: Piece) -> Section:
    """Return the section of a key that was read in one go."""
    faulty = ((0, piece),) if noteworthy(piece) else ()
    return Section(piece.text, piece, piece.children, open=piece.open, faulty=faulty)


def outcast_section(text: str) -> Section:
    """Read a key that belongs at column 0 and is one blank away from it."""
    piece = read_entry(text)
    remove = Fix("Align the line", (Edit(Span(0, 1), ""),), preferred=True)
    line = text[1:].splitlines()[0].rstrip()
    message = "This line does not line up with the other keys of the file; do not indent it."
    fault = SyntaxFault(Span(1, 1 + len(line)), message, "yaml-indentation", fixes=(remove,))
    piece = replace(piece, faults=(fault, *(other for other in piece.faults if other.span != fault.span)))
    return Section(text, piece, piece.children, open=piece.open, faulty=((0, piece),))


def build_list(
    text: str,
    head: Piece,
    dash: int,
    starts: Sequence[int],
    items: Sequence[Piece],
    placed: Sequence[Placed] = (),
    *,
    still_open: bool = False,
) -> Section:
    """Put a section together from its parts.

    ``placed`` are the items of the list when the caller has them.
    """
    if not placed:
        placed = [
            Placed(child.green, child.offset + start)
            for start, item in zip(starts, items, strict=True)
            for child in item.children
        ]
    key = head.children[0]
    anchor = head.children[1].green
    faulty = [(start, item) for start, item in zip(starts, items, strict=True) if noteworthy(item)]
    if noteworthy(head):
        faulty.insert(0, (0, head))
    end = starts[-1] + items[-1].end
    value = Green("sequence", starts[0] + dash, end, "block", "", anchor.tag, anchor.anchor, tuple(placed))
    return Section(
        text, head, (key, Placed(value)), dash, tuple(starts), tuple(items), still_open, tuple(faulty)
    )


def item_starts(dash: int, text: str, start: int) -> list[re.Match[str]]:
    """Match the line break before each item whose dash stands at column ``dash``."""
    return [match for match in _ITEM.finditer(text, start) if match.end(1) - match.start(1) == dash]


def noteworthy(piece: Piece) -> bool:
    """Whether a piece holds something that the whole document must know."""
    return bool(piece.faults or piece.anchors or piece.aliases)


def read_entry(text: str) -> Piece:
    """Read ``key: value`` at column 0."""
    reading = read(text)
    root = reading.root
    # A mapping that starts elsewhere has properties of its own, which concern the whole document.
    start = int(text.startswith(" "))
    shape = (root.kind, root.style, root.start) if root is not None else None
    if reading.error is None and root is not None and shape == ("mapping", "block", start):
        return _strict(text, reading, root.children, root.end)
    repaired = repair_entries(text, reading)
    return _repaired(text, repaired, reading)


def read_item(text: str, dash: int) -> Piece:
    """Read ``- item`` with its dash at the given column."""
    reading = read(text)
    root = reading.root
    if reading.error is None and root is not None and (root.kind, root.style) == ("sequence", "block"):
        return _strict(text, reading, root.children, max(root.end, dash + 1))
    parent = 0 if dash and not item_starts(0, text, 0) else -1
    return _repaired(text, repair_items(text, parent, reading), reading)


def read_whole(text: str) -> Piece:
    """Read a document that is no block mapping at column 0."""
    reading = read(text)
    if reading.error is None:
        return _strict_whole(text, reading)
    root, repaired = repair_block(text, reading)
    return _repaired(text, repaired, reading, root)


def strict_whole(text: str) -> Piece | None:
    """Read a document of any shape; None when it has a fault."""
    reading = read(text)
    return None if reading.error is not None else _strict_whole(text, reading)


def _strict_whole(text: str, reading: Reading) -> Piece:
    root = Placed(reading.root) if reading.root else None
    return _strict(text, reading, (), reading.root.end if reading.root else 0, root)


class Joining:
    """Tries open pieces together with the ones behind them.

    ``texts(i, j)`` is the text of pieces i up to j, ``count`` how many pieces there are. ``kind`` is what is
    to come out: a block mapping or a block sequence. ``known`` holds pieces read before, by their text.
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

    def join(self, first: int) -> Generator[None, None, tuple[Piece | None, int]]:
        """Try the open piece ``first`` together with the ones behind it; pause between the trials.

        The number of joined pieces doubles, so an open quote costs no more than reading the rest of the text
        twice. Return the piece and the index behind it. Without a piece the index tells whether the text
        ended before the join was refused (it is ``count`` then). When too much was read in vain nothing is
        tried any more: in a text that can be read every join succeeds.
        """
        size, work = 2, 0
        while self._wasted < MOST_WASTED:
            stop = min(first + size, self._count)
            text = self._texts(first, stop)
            piece, cost = self._known.get(text), 0
            if piece is None:
                piece, cost = _strict_or_open(text, self._kind)
                yield
            work += cost
            if piece is not None and not piece.open:
                return piece, stop
            if piece is None or stop == self._count:
                self._wasted += work
                return None, first if piece is None else stop
            size *= 2
        return None, first


def _read_items(
    text: str, cuts: list[int], dash: int, known: Mapping[str, Piece]
) -> Generator[None, None, tuple[list[int], list[Piece], bool]]:
    """Return where items start, the items, and whether the text ends inside one of them."""
    cuts.append(len(text))
    starts: list[int] = []
    items: list[Piece] = []
    still_open = False
    joining = Joining(lambda i, j: text[cuts[i] : cuts[j]], len(cuts) - 1, "sequence", known)
    index, count = 0, len(cuts) - 1
    while index < count:
        start = cuts[index]
        part = text[start : cuts[index + 1]]
        piece = known.get(part)
        if piece is None:
            piece = read_item(part, dash)
            yield
        index += 1
        if piece.open:
            joined, stop = yield from joining.join(index - 1)
            if joined is not None:
                piece, index = joined, stop
            still_open = still_open or (joined is None and stop == count)
        starts.append(start)
        items.append(piece)
    return starts, items, still_open


def _strict_or_open(text: str, kind: str) -> tuple[Piece | None, int]:
    """Read a block of a kind strictly; return it and what that cost.

    A piece that is still open when only its end is missing; None when it cannot be read.
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
        piece = _strict(text, reading, root.children, root.end)
    return piece, reading.work


def _strict(
    text: str, reading: Reading, children: tuple[Placed, ...], end: int, root: Placed | None = None
) -> Piece:
    faults = tuple(reading.duplicates)
    return Piece(text, children, end, faults, tuple(reading.anchors), tuple(reading.aliases), root=root)


def _repaired(text: str, repaired: Repaired, reading: Reading, root: Placed | None = None) -> Piece:
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
