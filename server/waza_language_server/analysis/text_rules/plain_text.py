"""Unquoted multi-line strings with ``: `` in them: YAML reads them as keys."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from waza_engine.later_patterns import compiled_later
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.text.edit import Edit
from waza_language_server.text.line_index import LineIndex
from waza_language_server.text.span import Span

_VALUE = compiled_later(r"([ ]*(?:-[ ]+)*)[A-Za-z_][\w-]*:[ ]+(?=[^\s\"'|>\[{&*!#%@`])(\S.*?)\s*\Z")
_COLON = compiled_later(r":(?:[ ]|$)")
_COLON_IN_WORDS = compiled_later(r"(?!-[ ])[^\s:]+[ ][^:]*:(?:[ ]|$)")
"""A colon after several words: no key of a suite contains a space."""
_CAPITAL = compiled_later(r"[A-Z][a-z][^\s:]*:(?:[ ]|$)")
"""A capitalized word before a colon, as in a sentence: no key of a suite, and rarely another key."""
LIKE_A_BAR = frozenset("Il1¦│")
"""Letters that look like `|`, alone after a key where it was intended."""
_KEY = compiled_later(r"(?:- +)*(?P<key>[A-Za-z_][\w-]*):(?:[ ]|$)")
_KEY_OF_BLOCK = compiled_later(r"(?:- +)*(?P<key>[A-Za-z_][\w-]*):[ ]*(?:[|>][-+0-9]*)?[ ]*(?:#.*)?\Z")
_LOOKED_AT = 40
_CANDIDATES = 3


def blocks_meant(
    text: str, lines: LineIndex, fault: SyntaxFault, known: Collection[str]
) -> Iterator[tuple[Span, Edit, bool]]:
    """Yield where such text may begin at a fault or above it, and the edit that makes a block scalar of it.

    Also whether that is certain: a line below that begins with one of the ``known`` keys may be indented too
    far instead. A letter that looks like a bar begins no text above such a line.
    """
    number = lines.line_of(fault.span.start)
    margin: int | None = None
    found = 0
    for line in range(number, max(-1, number - _LOOKED_AT), -1):
        span = lines.line_span(line)
        written = text[span.start : span.end].rstrip("\r\n")
        match = _VALUE.match(written)
        column = len(written) - len(written.lstrip(" ")) if match is None else len(match[1])
        if not written.strip() or (margin is not None and column >= margin):
            continue
        margin = column
        if match is not None:
            place = Span(span.start + match.start(2), span.start + match.end(2))
            block = _as_block(text, lines, line, column, place, known)
            if block is not None:
                found += 1
                yield place, *block
        if not column or found >= _CANDIDATES:
            return


def _as_block(
    text: str, lines: LineIndex, first: int, column: int, place: Span, known: Collection[str]
) -> tuple[Edit, bool] | None:
    """Return the edit that folds the text from ``place`` on; None if it has one line, or may be keys.

    Also whether that is certainly intended: no line below may be a key.
    """
    parts = [text[place.start : place.end]]
    end, meant = place.end, _COLON.search(parts[0]) is not None
    opened = may_be_meant = False
    for line in range(first + 1, lines.line_count):
        span = lines.line_span(line)
        written = text[span.start : span.end].rstrip()
        if written and len(written) - len(written.lstrip(" ")) <= column:
            break
        part = written.strip()
        parts.append(part)
        if part:
            end = span.start + len(written)
            # Lines below a key of suites say nothing about the text before it.
            block = _KEY_OF_BLOCK.match(part)
            opened = opened or (block is not None and block["key"] in known)
            meant = meant or (not opened and _COLON_IN_WORDS.match(part) is not None)
            may_be_meant = may_be_meant or (not opened and _CAPITAL.match(part) is not None)
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    # `trials_per_task: 1` above a key that is indented too far is a number.
    keys = (match["key"] for part in parts[1:] if (match := _KEY.match(part)) is not None)
    is_sure = not any(key in known for key in keys)
    like_a_bar = parts[0] in LIKE_A_BAR and is_sure
    may_be_meant = may_be_meant and " " in parts[0]
    if len(parts) < 2 or not (meant or may_be_meant or like_a_bar):
        return None
    line_break = "\r\n" if "\r\n" in text else "\n"
    indent = " " * (column + 2)
    body = line_break.join(f"{indent}{part}" if part else "" for part in parts)
    return Edit(Span(place.start, end), f">-{line_break}{body}"), is_sure and meant
