"""Faults at the beginning of a line: its indentation, its dash."""

from __future__ import annotations

import re

from waza_engine.spec.reading.yaml_faults import MISSING_DASH, TAB, sentence
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.syntax.lines import Line
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span


def start_fault(text: str, line: Line, usual: int, others: str) -> SyntaxFault | None:
    """Return the fault before the content of a line that belongs at the column ``usual``, like others."""
    if line.tabbed:
        return tab_fault(line)
    return _misplaced(text, line, usual, others) if line.column != usual else None


def tab_fault(line: Line) -> SyntaxFault:
    """Return the fault of a line that is indented with tabs."""
    place = Span(line.start, line.content)
    fix = Fix("Indent with spaces", (Edit(place, " " * line.column),), preferred=True)
    return SyntaxFault(place, sentence(TAB), "yaml-tab", fixes=(fix,))


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


def _misplaced(text: str, line: Line, usual: int, others: str) -> SyntaxFault:
    move = Edit(Span(line.start, line.content), " " * usual)
    # After a dash the line does not begin with spaces alone.
    fixes = () if text[line.start : line.content].strip() else (Fix("Align the line", (move,)),)
    spaces = "not at all" if usual == 0 else "by 1 space" if usual == 1 else f"by {usual} spaces"
    message = f"This line does not line up with {others}; indent it {spaces}."
    return SyntaxFault(_content(text, line), message, "yaml-indentation", fixes=fixes)


def _content(text: str, line: Line) -> Span:
    return Span(line.content, line.content + len(text[line.content : line.end].rstrip()))
