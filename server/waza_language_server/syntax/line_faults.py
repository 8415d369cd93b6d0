"""Faults at the beginning of a line: its indentation, an extra character, a missing dash."""

from __future__ import annotations

import re

from waza_engine.later_patterns import compiled_later
from waza_engine.spec.reading.yaml_faults import MISSING_DASH, TAB, sentence
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.syntax.lines import Line
from waza_language_server.syntax.wrong_signs import wrong_indent
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

_DASHES = compiled_later(r"--|-{4,}")


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
    if line.odd and not line.tabbed:
        return wrong_indent(line.start, line.content, line.end, usual)
    spaces = Edit(Span(line.start, line.content), " " * line.column)
    fix = Fix("Indent with spaces", (spaces,), preferred=True)
    return SyntaxFault(Span(line.start, line.content), sentence(TAB), "yaml-tab", fixes=(fix,))


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


def dashes_of_start(text: str, line: Span) -> bool:
    """Return whether the first line of a text has dashes, but not the three that begin a document."""
    return _DASHES.fullmatch(text, line.start, line.end) is not None and not text[: line.start].strip()


def wrong_start(line: Span) -> SyntaxFault:
    """Return the fault of such a line."""
    fix = Fix("Write `---`", (Edit(line, "---"),))
    return SyntaxFault(line, "A document begins with three dashes; write `---`.", fixes=(fix,))


def _misplaced(text: str, line: Line, usual: int, others: str) -> SyntaxFault:
    move = Edit(Span(line.start, line.content), " " * usual)
    # After a dash, or a character that is read as one, the line does not begin with spaces alone.
    fixes = () if text[line.start : line.content].strip() else (Fix("Align the line", (move,)),)
    spaces = "not at all" if usual == 0 else "by 1 space" if usual == 1 else f"by {usual} spaces"
    message = f"This line does not line up with {others}; indent it {spaces}."
    return SyntaxFault(_content(text, line), message, "yaml-indentation", fixes=fixes)


def _content(text: str, line: Line) -> Span:
    return Span(line.content, line.content + len(text[line.content : line.end].rstrip()))
