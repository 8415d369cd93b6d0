"""Quotes around a value that needs them."""

from __future__ import annotations

import re

from waza_engine.later_patterns import compiled_later
from waza_language_server.syntax.escapes import in_lost_quotes, quoted
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

_COMMENT = compiled_later(r"[ \t]+#[ \t]")
ESCAPED_QUOTES = compiled_later(r"\\(?P<quote>[\"'])(?P<inner>(?:(?!(?P=quote))[^\\])+)\\(?P=quote)")
"""A quoted string as copied from JSON."""


def quote_fix(text: str, line: Span, end: int, *, sure: bool = True) -> tuple[Fix, ...]:
    """Offer quotes around a value on one line; a comment after it stays outside."""
    if line.end < end:
        return ()
    value = text[line.start : line.end]
    comment = re.search(r"[ \t]+#", value)
    stop = line.start + comment.start() if comment else line.end
    if stop <= line.start:
        return ()
    written = text[line.start : stop]
    in_quotes = in_lost_quotes(written) or quoted(written)
    if (escaped := ESCAPED_QUOTES.fullmatch(written)) is not None:
        # The quotes exist: only the backslashes are wrong.
        in_quotes = f"{escaped['quote']}{escaped['inner']}{escaped['quote']}"
    elif written.startswith(('\\"', "\\'")):
        sure = False
    return (Fix("Put the value in quotes", (Edit(Span(line.start, stop), in_quotes),), preferred=sure),)


def before_comment(text: str, start: int, end: int) -> int:
    """Return where a text ends before a comment; ` # ` begins one, ``#10`` does not."""
    comment = _COMMENT.search(text, start, end)
    return comment.start() if comment is not None else end
