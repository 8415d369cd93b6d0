"""The tokens that the client has of each document, so that it is sent what differs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import NamedTuple

NUMBERS = 5
"""Of each token: lines and columns from the one before, length, kind and parts."""


class Difference(NamedTuple):
    """The numbers from ``start`` on, ``deleted`` many, are replaced."""

    start: int
    deleted: int
    inserted: list[int]


class SentTokens:
    """Numbers as they were sent, by document, each with the id that the client names them by."""

    def __init__(self) -> None:
        self._ids = count(1)
        self._sent: dict[str, tuple[str, list[int]]] = {}

    def send(self, uri: str, data: list[int]) -> str:
        """Store the numbers that are sent for a document and return their id."""
        identifier = str(next(self._ids))
        self._sent[uri] = identifier, data
        return identifier

    def sent(self, uri: str, identifier: str) -> list[int] | None:
        """Return the numbers that were sent for a document with an id, None if they are no longer stored."""
        known = self._sent.get(uri)
        return known[1] if known is not None and known[0] == identifier else None

    def forget(self, uri: str) -> None:
        """Forget a document that was closed."""
        self._sent.pop(uri, None)


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
