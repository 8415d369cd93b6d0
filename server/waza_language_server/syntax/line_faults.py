"""Faults at the beginning of a line: its indentation, its dash, the colon of its key."""

from __future__ import annotations

import re

from waza_engine.later_patterns import compiled_later
from waza_engine.spec.reading.yaml_faults import MISSING_DASH, TAB, sentence
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.syntax.lines import Line
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

KEY_WITH_SIGN = compiled_later(
    r"""(?P<key>[A-Za-z_][\w.-]*)
        (?P<sign>:[^\S \t\r\n][^\S\r\n]*
            |[^\S\r\n]*[：﹕︓][^\S\r\n]*
            |[^\S\r\n]+:(?=[^\s:=])
            |[ \t]*;(?:[ \t]+|(?=[\r\n]|\Z))
            |[ \t]*=>?(?![=>~])[ \t]*)""",
    re.VERBOSE,
)
"""A key followed by something other than a colon and a space."""
_SLASHES = compiled_later(r"//(?=[ \t\r\n]|\Z)")


def start_fault(text: str, line: Line, usual: int, others: str) -> SyntaxFault | None:
    """Return the fault before the content of a line that belongs at the column ``usual``, like others."""
    if line.stray >= 0:
        char = text[line.stray]
        span = Span(line.stray, line.stray + 1)
        remove = Fix(f"Delete `{char}`", (Edit(span, ""),))
        return SyntaxFault(span, f"This `{char}` does not belong here; delete it.", fixes=(remove,))
    if line.tabbed or line.odd:
        return blanks_fault(line, usual)
    return _misplaced(text, line, usual, others) if line.column != usual else None


def blanks_fault(line: Line, usual: int | None = None) -> SyntaxFault:
    """Return the fault of a line that is indented with anything but spaces, where ``usual`` is due."""
    column = line.content - line.start if line.odd and usual is None else usual
    spaces = Edit(Span(line.start, line.content), " " * (line.column if line.tabbed else column or 0))
    fix = Fix("Indent with spaces", (spaces,), preferred=True)
    if line.tabbed:
        return SyntaxFault(Span(line.start, line.content), sentence(TAB), "yaml-tab", fixes=(fix,))
    message = "This line is indented with whitespace that YAML reads as letters; use spaces."
    return SyntaxFault(Span(line.start, line.end), message, "yaml-indentation", fixes=(fix,))


def missing_dash(text: str, line: Line) -> SyntaxFault:
    """Return the fault of a line without a dash among list items."""
    return SyntaxFault(_content(text, line), sentence(MISSING_DASH))


def behind_value(text: str, head: Line, line: Line, key: re.Match[str]) -> SyntaxFault:
    """Return the fault of a line that is indented below a key which already has its value."""
    name = text[head.content : key.end()].rstrip(": \t")[:40]
    spaces = "space" if head.column == 1 else "spaces"
    advice = f"indent this by {head.column} {spaces}" if head.column else "do not indent this"
    message = f"`{name}` has a value already; {advice}, or quote the text above if this belongs to it."
    return SyntaxFault(Span(line.content, line.end), message, "yaml-indentation")


def wrong_colon(match: re.Match[str]) -> SyntaxFault:
    """Return the fault of a key that ``KEY_WITH_SIGN`` has found."""
    key, sign = match["key"], match["sign"]
    at_end = match.string[match.end() : match.end() + 1] in {"", "\r", "\n"}
    edit = Edit(Span(match.start("sign"), match.end("sign")), ":" if at_end else ": ")
    span = Span(match.start("key"), match.start("sign") + len(sign.rstrip()) or match.end("key"))
    message = f"A key is followed by a colon and a space; write `{key}: ` before the value."
    return SyntaxFault(span, message, fixes=(Fix(f"Write `{key}: `", (edit,), preferred=True),))


def wrong_dash(text: str, offset: int, line_end: int) -> SyntaxFault:
    """Return the fault of a list item that begins with another character than a dash."""
    span = Span(offset, offset + len(text[offset:line_end].rstrip()))
    is_apart = text[offset + 1 : offset + 2].isspace() and offset + 1 < line_end
    edit = Edit(Span(offset, offset + 1 + is_apart), "- " if is_apart else "-")
    fix = Fix(f"Write `-` for `{text[offset]}`", (edit,), preferred=True)
    return SyntaxFault(span, f"A list item starts with `-`, not with `{text[offset]}`.", fixes=(fix,))


def slashes_at(text: str, offset: int) -> bool:
    """Return whether two slashes at an offset begin a comment, as in other languages."""
    return _SLASHES.match(text, offset) is not None


def wrong_comment(offset: int, line_end: int) -> SyntaxFault:
    """Return the fault of a comment that begins with two slashes after whitespace."""
    fix = Fix("Write `#` for `//`", (Edit(Span(offset, offset + 2), "#"),), preferred=True)
    return SyntaxFault(Span(offset, line_end), "A comment starts with `#`, not with `//`.", fixes=(fix,))


def _misplaced(text: str, line: Line, usual: int, others: str) -> SyntaxFault:
    move = Edit(Span(line.start, line.content), " " * usual)
    # After a dash, or a character that is read as one, the line does not begin with spaces alone.
    fixes = () if text[line.start : line.content].strip() else (Fix("Align the line", (move,)),)
    spaces = "not at all" if usual == 0 else "by 1 space" if usual == 1 else f"by {usual} spaces"
    message = f"This line does not line up with {others}; indent it {spaces}."
    return SyntaxFault(_content(text, line), message, "yaml-indentation", fixes=fixes)


def _content(text: str, line: Line) -> Span:
    return Span(line.content, line.content + len(text[line.content : line.end].rstrip()))
