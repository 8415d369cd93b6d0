"""The legend of semantic tokens, which is sent once; tokens then refer to its indices.

All kinds are those of the protocol, so that every editor has a colour for them. The modifiers after the two
of the protocol are parts of patterns: an editor that does not know them colours a pattern as one.
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
