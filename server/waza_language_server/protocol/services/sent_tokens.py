"""The tokens that the client has of each document, so that it is sent what differs."""

from __future__ import annotations

from itertools import count
from typing import NamedTuple


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
        """Note what is sent and return its id."""
        identifier = str(next(self._ids))
        self._sent[uri] = identifier, data
        return identifier

    def difference(self, uri: str, identifier: str, data: list[int]) -> Difference | None:
        """Return what differs from what was sent under an id, None when that is not known any more."""
        known = self._sent.get(uri)
        if known is None or known[0] != identifier:
            return None
        return _difference(known[1], data)

    def forget(self, uri: str) -> None:
        """Forget a document that was closed."""
        self._sent.pop(uri, None)


def _difference(old: list[int], new: list[int]) -> Difference:
    shorter = min(len(old), len(new))
    start = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    # Whole tokens of five numbers.
    start -= start % 5
    end = 0
    while end < shorter - start and old[-1 - end] == new[-1 - end]:
        end += 1
    end -= end % 5
    return Difference(start, len(old) - start - end, new[start : len(new) - end])
