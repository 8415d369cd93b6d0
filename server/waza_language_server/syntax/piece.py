"""A piece of a document: a part of the text and its parse result, strict or with repairs."""

from __future__ import annotations

from collections.abc import Sequence

from waza_engine.frozen import frozen
from waza_language_server.syntax.events import Notes, Reading
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.syntax.green import Placed
from waza_language_server.syntax.repair import Repaired


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
