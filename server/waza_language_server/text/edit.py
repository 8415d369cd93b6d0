"""Changes to a text, and places in it: what the parser and the rules offer to an author."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

from waza_language_server.text.span import Span


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the characters of ``span`` by ``text``."""

    span: Span
    text: str

    def shifted(self, by: int) -> Edit:
        """Return the same edit ``by`` characters further on."""
        return replace(self, span=self.span.shifted(by))


@dataclass(frozen=True)
class Fix:
    """One way to repair a problem, worded for a menu. ``preferred`` marks the only safe choice.

    ``repair`` is the edits, or a function that makes them: trying an edit out costs a parse, and few fixes of
    a long file are ever looked at. ``offset`` is added to every edit.
    """

    title: str
    repair: tuple[Edit, ...] | Callable[[], tuple[Edit, ...]] = field(compare=False)
    preferred: bool = False
    offset: int = 0

    @cached_property
    def edits(self) -> tuple[Edit, ...]:
        """The edits; empty when the text turns out to leave no room for the fix: then do not offer it."""
        edits = self.repair() if callable(self.repair) else self.repair
        return tuple(edit.shifted(self.offset) for edit in edits) if self.offset else edits

    def shifted(self, by: int) -> Fix:
        """Return the same fix ``by`` characters further on."""
        return replace(self, offset=self.offset + by)


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that belongs to the problem. ``uri`` is None for the same document."""

    span: Span
    message: str
    uri: str | None = None

    def shifted(self, by: int) -> Related:
        """Return the same place ``by`` characters further on, unless it lies in another document."""
        return self if self.uri is not None else replace(self, span=self.span.shifted(by))
