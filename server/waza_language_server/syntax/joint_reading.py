"""Parsing several pieces in one go: with the same result as one by one, or joined if one ends too early."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from waza_engine.checkpoint import checkpoint
from waza_language_server.syntax.events import Part, read, read_parts
from waza_language_server.syntax.piece import Piece, strict_piece

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
