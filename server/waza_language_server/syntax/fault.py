"""Syntax errors of the YAML text, in our words and at the right characters."""

from __future__ import annotations

from dataclasses import replace

from waza_engine.frozen import frozen
from waza_language_server.text.edit import Fix, Related
from waza_language_server.text.span import Span

STRUCTURAL_CODES = frozenset(
    {"yaml-syntax", "yaml-indentation", "yaml-tab", "yaml-escape", "json-syntax", "too-deep"}
)
"""Codes of faults that make the tree around them a guess."""
MISREADING_CODES = STRUCTURAL_CODES | {"unknown-anchor", "control-character"}
"""Codes of faults because of which a part of the text is misread, or not read at all."""
FAULT_CODES = MISREADING_CODES | {"duplicate-key", "several-documents", "not-text"}
"""Every code of a ``SyntaxFault``."""


@frozen()
class SyntaxFault:
    """One fault of the text. ``code`` is one of ``FAULT_CODES``."""

    span: Span
    message: str
    code: str = "yaml-syntax"
    related: tuple[Related, ...] = ()
    fixes: tuple[Fix, ...] = ()

    def shifted(self, by: int) -> SyntaxFault:
        """Return the same fault ``by`` characters further on."""
        if by == 0:
            return self
        return replace(
            self,
            span=self.span.shifted(by),
            related=tuple(related.shifted(by) for related in self.related),
            fixes=tuple(fix.shifted(by) for fix in self.fixes),
        )
