"""Explanations of syntax errors in quoted strings."""

from __future__ import annotations

from waza_engine.later_patterns import compiled_later
from waza_engine.spec.reading.yaml_faults import sentence, unclosed_quote
from waza_language_server.syntax.escapes import (
    DOUBLE_BODY,
    SINGLE_BODY,
    end_of_line,
    text_with_escapes,
    wrong_escapes,
)
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.syntax.trailing_text import text_behind_quote
from waza_language_server.syntax.value_quotes import before_comment
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

_THREE_QUOTES = compiled_later(r'(?P<written>"""(?P<inner>[^"\r\n]+)""")[ \t]*(?=[\r\n]|\Z)')
_SIGN_OF_BLOCK = compiled_later(r"[|>][-+]?")


def explain_double(text: str, start: int, end: int) -> SyntaxFault:
    """Return the fault of the double-quoted string at ``text[start:end]``."""
    if (python := _THREE_QUOTES.match(text, start, end)) is not None:
        place = Span(start, python.end("written"))
        edit = Edit(place, f'"{python["inner"]}"')
        message = "A text stands in one pair of quotes, not in three as in Python."
        return SyntaxFault(place, message, fixes=(Fix("Write one pair of quotes", (edit,)),))
    body = DOUBLE_BODY.match(text, start, end)
    stop = body.end() if body else start + 1
    if stop >= end:
        return unclosed(text, start, end, '"')
    if text[stop] == '"':
        return text_behind_quote(text, start, stop + 1, end)
    return wrong_escapes(text, [text_with_escapes(text, start, stop, end)])


def explain_single(text: str, start: int, end: int) -> SyntaxFault:
    """Return the fault of the single-quoted string at ``text[start:end]``."""
    body = SINGLE_BODY.match(text, start, end)
    stop = body.end() if body else start + 1
    if stop >= end:
        return unclosed(text, start, end, "'")
    return text_behind_quote(text, start, stop + 1, end)


def unclosed(text: str, start: int, end: int, quote: str) -> SyntaxFault:
    """Return the fault of a quote that is never closed."""
    line_end = before_comment(text, start, end_of_line(text, start, end))
    close = Fix(f"Add the closing `{quote}`", (Edit(Span(line_end, line_end), quote),))
    message = sentence(unclosed_quote(quote))
    fixes = (close,)
    written = text[start + 1 : line_end]
    if _SIGN_OF_BLOCK.fullmatch(written) is not None and line_end < end:
        message = f"A quote is opened before `{written}`, which begins a block of text only without it."
        return SyntaxFault(
            Span(start, line_end),
            message,
            fixes=(Fix("Delete the quote", (Edit(Span(start, start + 1), ""),)), close),
        )
    if line_end > start + 1 and text[line_end - 1] in "\"'" and text[line_end - 1] != quote:
        last = Edit(Span(line_end - 1, line_end), quote)
        fixes = (Fix(f"End with `{quote}`", (last,)), close)
    return SyntaxFault(Span(start, line_end), message, fixes=fixes)


def is_unclosed(text: str, start: int, end: int) -> bool:
    """Return whether the quote at ``start`` has no partner before ``end``."""
    body = (DOUBLE_BODY if text[start] == '"' else SINGLE_BODY).match(text, start, end)
    stop = body.end() if body else end
    return stop >= end
