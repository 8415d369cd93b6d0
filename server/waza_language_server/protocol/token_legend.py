"""The words for semantic tokens that the client is told once; tokens then name them by their positions.

All kinds are those of the protocol, so that every editor has a colour for them. The modifiers behind the two
of the protocol are parts of patterns: who does not know them colours a pattern as one.
"""

from __future__ import annotations

from typing import get_args

from lsprotocol import types

from waza_language_server.embedded.language import TokenKind, TokenPart

KINDS = get_args(TokenKind)
PARTS = tuple(part for part in get_args(TokenPart) if part)
LEGEND = types.SemanticTokensLegend(list(KINDS), list(PARTS))
