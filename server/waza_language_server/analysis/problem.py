"""Problems and their fixes: what the rules yield and every feature, the CLI and the tests read."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from waza_language_server.text.span import Span

Severity = Literal["error", "warning", "information", "hint"]


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the characters of ``span`` by ``text``."""

    span: Span
    text: str

    def shifted(self, by: int) -> Edit:
        """Return the same edit ``by`` characters further on."""
        return replace(self, span=self.span.shifted(by))


@dataclass(frozen=True, slots=True)
class Fix:
    """One way to repair a problem, worded for a menu. ``preferred`` marks the only safe choice."""

    title: str
    edits: tuple[Edit, ...]
    preferred: bool = False

    def shifted(self, by: int) -> Fix:
        """Return the same fix ``by`` characters further on."""
        return replace(self, edits=tuple(edit.shifted(by) for edit in self.edits))


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that belongs to the problem. ``uri`` is None for the same document."""

    span: Span
    message: str
    uri: str | None = None

    def shifted(self, by: int) -> Related:
        """Return the same place ``by`` characters further on, unless it lies in another document."""
        return self if self.uri is not None else replace(self, span=self.span.shifted(by))


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding. ``code`` is stable and is the anchor of its paragraph in ``docs/diagnostics.md``.

    ``tag`` follows the editor: ``unnecessary`` is drawn faded, ``deprecated`` struck through.
    """

    code: str
    span: Span
    message: str
    severity: Severity = "error"
    fixes: tuple[Fix, ...] = ()
    related: tuple[Related, ...] = field(default=())
    tag: Literal["unnecessary", "deprecated"] | None = None

    def shifted(self, by: int) -> Problem:
        """Return the same problem ``by`` characters further on."""
        if by == 0:
            return self
        return replace(
            self,
            span=self.span.shifted(by),
            fixes=tuple(fix.shifted(by) for fix in self.fixes),
            related=tuple(related.shifted(by) for related in self.related),
        )
