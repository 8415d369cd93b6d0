"""Spans: half-open ranges of character offsets into a text."""

from __future__ import annotations

from waza_engine.frozen import frozen


@frozen(order=True)
class Span:
    """Characters ``start`` up to but not including ``end``; offsets are 0-based code points."""

    start: int
    end: int

    def shifted(self, by: int) -> Span:
        """Return the same span ``by`` characters further on."""
        return Span(self.start + by, self.end + by)

    def contains(self, offset: int) -> bool:
        """Return whether the offset is inside or at either end, as a cursor is."""
        return self.start <= offset <= self.end

    def __len__(self) -> int:
        return self.end - self.start
