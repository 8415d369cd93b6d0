"""A cache of parse results for text that fails strict parsing, by the text.

While a file has a fault, repairs of its typos are tried again with each keystroke (``analysis/text_rules``),
and each attempt cuts the text in another way: it would parse the same broken pieces again. The result for a
piece depends on its text alone.

Architecture invariant: the cache is bounded in characters, and costs nothing for valid text.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

Value = TypeVar("Value")

MOST_CHARACTERS = 400_000
"""The size limit of one cache: sixteen attempts for the longest text that is searched for typos."""
LONGEST = 40_000
_OF_EACH = 64
"""The overhead of each result in characters: a tree of one line takes as much memory."""


class KeptReadings(Generic[Value]):
    """The most recently used results of one kind."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, object], Value] = OrderedDict()
        self._characters = 0

    def known(self, text: str, how: object = None) -> Value | None:
        """Return the cached result for a text, parsed in the way ``how``; None if there is none."""
        if len(text) > LONGEST:
            return None
        found = self._kept.get((text, how))
        if found is not None:
            self._kept.move_to_end((text, how))
        return found

    def keep(self, text: str, value: Value, how: object = None) -> None:
        """Cache the result for a text, and evict the least recently used ones."""
        if len(text) > LONGEST or (text, how) in self._kept:
            return
        self._kept[text, how] = value
        self._characters += len(text) + _OF_EACH
        while self._characters > MOST_CHARACTERS:
            (gone, _), _ = self._kept.popitem(last=False)
            self._characters -= len(gone) + _OF_EACH
