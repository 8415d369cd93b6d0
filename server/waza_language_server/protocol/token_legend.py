"""The words for semantic tokens that the client is told once; tokens then name them by their positions.

All kinds are those of the protocol, so that every editor has a colour for them. The modifiers behind the two
of the protocol are parts of patterns: who does not know them colours a pattern as one.
"""

from __future__ import annotations

from lsprotocol import types

KINDS = (
    "comment",
    "enumMember",
    "function",
    "keyword",
    "method",
    "namespace",
    "number",
    "operator",
    "parameter",
    "property",
    "regexp",
    "string",
    "type",
    "variable",
)
PARTS = ("declaration", "defaultLibrary", "group", "class", "quantifier", "anchor", "alternation", "escape")
LEGEND = types.SemanticTokensLegend(list(KINDS), list(PARTS))
