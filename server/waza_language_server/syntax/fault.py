"""Syntax errors of the YAML text, in our words and at the right characters."""

from __future__ import annotations

from dataclasses import replace

from waza_engine.frozen import frozen
from waza_language_server.text.edit import Fix, Related
from waza_language_server.text.span import Span

FAULT_CODES: dict[str, str] = {
    "yaml-syntax": "The text is no YAML here: a quote, bracket, colon or dash is missing or misplaced.",
    "yaml-indentation": "A line starts at a column where nothing above it expects it.",
    "yaml-tab": "YAML is indented with spaces; a tab ends the reading of the file.",
    "yaml-escape": "A backslash in double quotes starts an escape, and YAML does not know this one.",
    "json-syntax": "The text is no JSON here: a quote, bracket, colon or comma is missing or misplaced.",
    "duplicate-key": "A mapping names the same key twice; a run refuses the file.",
    "several-documents": "A file holds one document; everything behind the second `---` is ignored by a run.",
    "unknown-anchor": "An alias (`*name`) has no anchor (`&name`) before it, or a name lacks its `*`.",
    "control-character": "An invisible character that YAML readers refuse or take for a line break.",
    "too-deep": "Lists and mappings are nested deeper than any suite needs; the rest is not read.",
    "not-text": "The file is not text, or too large to be a suite.",
}
"""Every code of a ``SyntaxFault``, and its meaning."""

STRUCTURAL_CODES = frozenset(
    {"yaml-syntax", "yaml-indentation", "yaml-tab", "yaml-escape", "json-syntax", "too-deep"}
)
"""Codes of faults that make the tree around them a guess."""

MISREADING_CODES = STRUCTURAL_CODES | {"unknown-anchor", "control-character"}
"""Codes of faults because of which a part of the text is misread, or not read at all."""


@frozen()
class SyntaxFault:
    """One fault of the text. ``code`` is a key of ``FAULT_CODES``."""

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
