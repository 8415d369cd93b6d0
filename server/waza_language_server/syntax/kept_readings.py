"""What was read of texts that cannot be read strictly, kept by the text.

While a file has a fault, its slips are tried anew with each key (``analysis/text_rules``), and each trial
cuts the text in another way: it would read the same broken pieces again. What a piece reads as depends on its
text alone.

Architecture invariant: what is kept is bounded in characters, and a text that can be read costs nothing here.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

Value = TypeVar("Value")

MOST_CHARACTERS = 400_000
"""In all that is kept of one kind: sixteen trials of the longest text that slips are looked for in."""
LONGEST = 40_000
_OF_EACH = 64
"""Characters that each reading counts for besides its own: a tree of one line takes as much as that many."""


class KeptReadings(Generic[Value]):
    """Readings of one kind, those that were wanted last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, object], Value] = OrderedDict()
        self._characters = 0

    def known(self, text: str, how: object = None) -> Value | None:
        """Return what a text was read as, ``how`` tells in which way; None when that is not known."""
        if len(text) > LONGEST:
            return None
        found = self._kept.get((text, how))
        if found is not None:
            self._kept.move_to_end((text, how))
        return found

    def keep(self, text: str, value: Value, how: object = None) -> None:
        """Keep what a text was read as, and let go of what nobody has wanted for long."""
        if len(text) > LONGEST or (text, how) in self._kept:
            return
        self._kept[text, how] = value
        self._characters += len(text) + _OF_EACH
        while self._characters > MOST_CHARACTERS:
            (gone, _), _ = self._kept.popitem(last=False)
            self._characters -= len(gone) + _OF_EACH
