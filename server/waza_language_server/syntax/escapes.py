r"""Double-quoted strings with an invalid escape: `"\d+"`, `"C:\Users"`.

Their authors did not think of escapes, so the right fix for one is right for all of a list.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_engine.spec.reading.yaml_faults import escape_at, joined_halves, sentence, wrong_escape
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.syntax.libyaml_events import read
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

_ESCAPE = (
    # Surrogates and code points beyond the last character are not escapes.
    r'\\(?:[0abt\tnvfre "/\\N_LP]|x[0-9a-fA-F]{2}|u(?![dD][89a-fA-F])[0-9A-Fa-f]{4}'
    r"|U0000(?![dD][89a-fA-F])[0-9A-Fa-f]{4}|U000[1-9A-Fa-f][0-9A-Fa-f]{4}|U0010[0-9A-Fa-f]{4}|\r\n|\r|\n)"
)
DOUBLE_BODY = compiled_later(rf'"(?:[^"\\]|{_ESCAPE})*')
"""A double-quoted string up to its closing quote, or up to the first invalid escape."""
LOOSE_DOUBLE = compiled_later(r'"(?:[^"\\]|\\.)*"')
"""The same with any escapes, including its closing quote."""
SINGLE_BODY = compiled_later(r"'(?:[^']|'')*")
"""A single-quoted string up to its closing quote."""
_BACKSLASH = compiled_later(rf"(?P<known>{_ESCAPE})|\\")
_QUOTE_OR_BACKSLASH = compiled_later(r'\\(["\\])')
_LIKELY_ESCAPE = compiled_later(r"\\(?:\\\\)*[nrtxu]")
_WINDOWS_PATH = compiled_later(r"[A-Za-z]:\\(?!\\)")
_SEGMENTS = compiled_later(r"[\w.-]+(?:\\[\w.*-]+){2,}")
_SHARE = compiled_later(r"\\\\\w{3}")
"""The beginning of a UNC path: two backslashes, which YAML reads as one."""
_AFTER_VALUE = compiled_later(r"[ \t]*(?:[\r\n]|\Z)|[ \t]+#")
_AFTER_ITEM = compiled_later(r"[ \t]*(?:[,\]}\r\n]|\Z)|[ \t]+#|[ \t]*:[ \t]")
"""Text that may follow a quoted string, in a block and in brackets."""
_BREAK = compiled_later(r"[\r\n]")
_MAY_END_SO = compiled_later(r"(?:\d\"|[sxz]')\Z")
"""Inches, and a possessive."""
_PRINTED = frozenset("“„‘")
"""Typographic quotes that may replace the missing one."""


@frozen()
class EscapedText:
    """A string from the quote at ``start`` to that at ``closing``; the escape at ``stop`` is invalid.

    ``closing`` is -1 if no quote on the line can be the closing one.
    """

    start: int
    stop: int
    closing: int


def text_with_escapes(text: str, start: int, stop: int, end: int, *, in_flow: bool = False) -> EscapedText:
    r"""Return the quoted string at ``start``. YAML may end it earlier than intended: `"a \\d "b" c"`."""
    after = _AFTER_ITEM if in_flow else _AFTER_VALUE
    line_end = end_of_line(text, stop, end)
    first = LOOSE_DOUBLE.match(text, start, line_end)
    if first is not None and first.end() > stop and after.match(text, first.end()):
        return EscapedText(start, stop, first.end() - 1)
    quotes = [at for at in range(stop, line_end) if text[at] == '"' and after.match(text, at + 1)]
    return EscapedText(start, stop, quotes[0 if in_flow else -1] if quotes else -1)


def wrong_escapes(text: str, found: Sequence[EscapedText], within: Span | None = None) -> SyntaxFault:
    """Return the fault of the first invalid escape, with fixes for all of them.

    ``within`` are the brackets that hold the strings: no fix is certain if they do not parse afterwards.
    """
    first = found[0]
    shown = escape_at(text, first.stop)
    fixes: list[Fix] = []
    character = joined_halves(shown)
    if character is not None and character.isprintable():
        whole = Edit(Span(first.stop, first.stop + len(shown)), character)
        fixes.append(Fix(f"Write `{character}`", (whole,), preferred=True))
    # Single quotes would turn a valid escape into letters.
    has_escapes = any(_has_likely_escape(text, each) for each in found)
    if not has_escapes and all(each.closing > each.stop for each in found):
        edits = tuple(in_single_quotes(text, Span(each.start, each.closing + 1)) for each in found)
        # A complete code was intended as a character, not as a backslash and letters.
        is_sure = len(shown) == len("\\d")
        reads = within is None or _reads_with(text, within, edits)
        title = "Use single quotes, which keep backslashes as they are"
        fixes.append(Fix(title, edits, preferred=is_sure and reads))
    if not any(_has_bare_quote(text, each) for each in found):
        doubled = tuple(Edit(Span(at, at), "\\") for each in found for at in _backslashes(text, each))
        fixes.append(Fix("Double the backslash" if len(doubled) == 1 else "Double the backslashes", doubled))
    message = sentence(wrong_escape(shown))
    return SyntaxFault(Span(first.stop, first.stop + len(shown)), message, "yaml-escape", fixes=tuple(fixes))


def quoted(value: str) -> str:
    """Return the string in single quotes."""
    return "'" + value.replace("'", "''") + "'"


def with_missing_quote(written: str) -> str | None:
    """Return a string with its missing opening quote; None if it has no single quote at its end.

    The quote decides what its backslashes mean, so another one would change the string.
    """
    last = written[-1:]
    if last not in {'"', "'"} or written.count(last) != 1 or _MAY_END_SO.search(written):
        return None
    inner = written[:-1]
    inner = inner[1:] if inner[:1] in _PRINTED else inner
    body = DOUBLE_BODY if last == '"' else SINGLE_BODY
    # An invalid escape cannot have been in double quotes.
    return f"{last}{inner}{last}" if body.fullmatch(f"{last}{inner}") else quoted(inner)


def end_of_line(text: str, start: int, end: int) -> int:
    """Return where the line of ``start`` ends without its trailing whitespace, at most ``end``."""
    line_break = _BREAK.search(text, start, end)
    return start + len(text[start : line_break.start() if line_break else end].rstrip())


def in_single_quotes(text: str, span: Span) -> Edit:
    """Return the edit that changes double quotes to single ones, leaving backslashes unchanged."""
    inner = _QUOTE_OR_BACKSLASH.sub(r"\1", text[span.start + 1 : span.end - 1])
    return Edit(span, quoted(inner))


def _reads_with(text: str, part: Span, edits: Sequence[Edit]) -> bool:
    """Return whether a part of a text can be parsed after edits in it, which are in order."""
    parts: list[str] = []
    at = part.start
    for edit in edits:
        parts += text[at : edit.span.start], edit.text
        at = edit.span.end
    return read("".join((*parts, text[at : part.end]))).error is None


def _has_likely_escape(text: str, each: EscapedText) -> bool:
    """Return whether a string probably has an intended escape, such as a line break; a path has none."""
    inner = text[each.start + 1 : each.closing]
    if _WINDOWS_PATH.match(inner) is not None:
        return False
    return _SHARE.match(inner) is not None or any(
        match["known"] is not None and _LIKELY_ESCAPE.match(match[0]) for match in _BACKSLASH.finditer(inner)
    )


def _backslashes(text: str, each: EscapedText) -> Iterator[int]:
    """Yield the backslashes of a string that escape nothing; in a path, all single ones."""
    end = each.closing if each.closing > each.stop else _end_of_text(text, each)
    inner = text[each.start + 1 : end]
    is_path = _WINDOWS_PATH.match(inner) is not None or _SEGMENTS.fullmatch(inner) is not None
    for match in _BACKSLASH.finditer(text, each.start + 1, end):
        if match["known"] is None or (is_path and match[0] not in {"\\\\", '\\"'}):
            yield match.start()


def _end_of_text(text: str, each: EscapedText) -> int:
    loose = LOOSE_DOUBLE.match(text, each.start)
    return loose.end() - 1 if loose is not None else each.stop + 1


def _has_bare_quote(text: str, each: EscapedText) -> bool:
    """Return whether the quote that YAML reads as the closing one is before the intended one."""
    loose = LOOSE_DOUBLE.match(text, each.start, each.closing + 1)
    return loose is not None and loose.end() <= each.closing
