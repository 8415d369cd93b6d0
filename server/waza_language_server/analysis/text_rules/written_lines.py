"""The lines around a typo, as rules see them: the key of one, the next one above that is not empty."""

from __future__ import annotations

from waza_engine.later_patterns import compiled_later
from waza_language_server.text.line_index import LineIndex

KEY = compiled_later(r"(?P<lead>[ ]*(?:-[ ]+)*)(?P<key>[A-Za-z_][\w-]*):(?:[ \t]|\Z)")
"""The key of a line, after its dashes; the line ends at the end of the string."""
KEY_WITHOUT_DASH = compiled_later(r"[ ]*(?P<key>[A-Za-z_][\w-]*):(?=[ \t\r\n]|\Z)")
LOOKED_AT = 60
"""The most lines above, or below, to check."""


def line_written(text: str, lines: LineIndex, row: int) -> str:
    """Return a line (0-based) without trailing whitespace."""
    line = lines.line_span(row)
    return text[line.start : line.end].rstrip()


def row_above(text: str, lines: LineIndex, row: int) -> int | None:
    """Return the nearest line above one (0-based) that is neither empty nor a comment."""
    for above in range(row - 1, max(-1, row - LOOKED_AT), -1):
        said = line_written(text, lines, above).lstrip()
        if said and not said.startswith("#"):
            return above
    return None
