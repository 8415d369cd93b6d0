"""The tokens that the client has of each document, so that it is sent what differs."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate, count
from typing import TYPE_CHECKING, NamedTuple

from waza_engine.frozen import frozen

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.schema.catalog import Catalog

NUMBERS = 5
"""Of each token: lines and columns from the one before, length, kind and parts."""


class Difference(NamedTuple):
    """The numbers from ``start`` on, ``deleted`` many, are replaced."""

    start: int
    deleted: int
    inserted: list[int]


@frozen(eq=False)
class Sent:
    """The numbers of one version of a document as they were sent, and their origin."""

    identifier: str
    document: Document
    catalog: Catalog
    data: list[int]


class SentTokens:
    """Numbers as they were sent, by document, each with the id that the client names them by."""

    def __init__(self) -> None:
        self._ids = count(1)
        self._sent: dict[str, Sent] = {}

    def send(self, document: Document, catalog: Catalog, data: list[int]) -> str:
        """Store the numbers that are sent for a document and return their id."""
        identifier = str(next(self._ids))
        self._sent[document.uri] = Sent(identifier, document, catalog, data)
        return identifier

    def sent(self, uri: str, identifier: str) -> Sent | None:
        """Return the numbers that were sent for a document with an id, None if they are no longer stored."""
        known = self._sent.get(uri)
        return known if known is not None and known.identifier == identifier else None

    def forget(self, uri: str) -> None:
        """Forget a document that was closed."""
        self._sent.pop(uri, None)


class Lines(NamedTuple):
    """The lines from ``first`` to ``old_last`` became those from ``first`` to ``new_last``."""

    first: int
    old_last: int
    new_last: int


def replaced_lines(data: Sequence[int], lines: Lines, tokens: Sequence[int]) -> Difference:
    """Return how numbers differ when ``tokens`` are on the lines that were replaced.

    The numbers of ``tokens`` are those of a text without other tokens.
    """
    at = list(accumulate(data[::NUMBERS]))
    first, behind = bisect_left(at, lines.first), bisect_right(at, lines.old_last)
    above = at[first - 1] if first else 0
    inserted = list(tokens)
    last = lines.first
    if inserted:
        last = sum(inserted[::NUMBERS])
        inserted[0] -= above
    else:
        last = above
    deleted = behind - first
    if behind < len(at):
        # The next one counts its lines from another token; its column is counted from the start of its line.
        following = [*data[behind * NUMBERS : (behind + 1) * NUMBERS]]
        following[0] = at[behind] + lines.new_last - lines.old_last - last
        inserted += following
        deleted += 1
    start = first * NUMBERS
    same = difference(data[start : start + deleted * NUMBERS], inserted)
    return Difference(start + same.start, same.deleted, same.inserted)


def difference(old: Sequence[int], new: Sequence[int]) -> Difference:
    """Return how numbers differ from others, in whole tokens."""
    shorter = min(len(old), len(new))
    start = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    start -= start % NUMBERS
    end = 0
    while end < shorter - start and old[-1 - end] == new[-1 - end]:
        end += 1
    end -= end % NUMBERS
    return Difference(start, len(old) - start - end, [*new[start : len(new) - end]])
