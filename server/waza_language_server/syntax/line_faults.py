"""Faults at the beginning of a line: its indentation, its dash."""

from __future__ import annotations

import re
from collections.abc import Iterator

from waza_engine.counting import counted
from waza_engine.later_patterns import compiled_later
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


def text_after_value(text: str, head: Line, line: Line, key: re.Match[str]) -> SyntaxFault:
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


_HEADER = compiled_later(r"[|>][-+]?[ \t]*(?:#[^\r\n]*)?(?=[\r\n])")
_LINE = compiled_later(r"(?P<blanks>[ \t]*)(?P<written>[^\r\n]*)(?:\r\n|\r|\n|\Z)")
_MOST_LINES = 500


def explain_text_block(text: str, start: int, end: int) -> SyntaxFault | None:
    """Return the fault at the line where the block scalar (``|``, ``>``) at ``start`` ends too early.

    ``end`` is where the author intended its end. None if that is not the cause of the syntax error.
    """
    header = _HEADER.match(text, start, end)
    if header is None:
        return None
    # The first line ends within the header.
    lines = list(_written(text, header.end(), end))[:_MOST_LINES]
    if len(lines) < 2:
        return None
    column = _width(lines[0])
    if "\t" in lines[0]["blanks"]:
        return None
    for number, line in enumerate(lines[1:], start=1):
        if "\t" in line["blanks"][:column]:
            return _tabs(lines[number:], column)
        if _width(line) < column:
            return _shifted_lines(lines, number)
    return None


def _written(text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    at = start
    while at < end:
        line = _LINE.match(text, at, end)
        if line is None or line.end() == at:
            return
        at = line.end()
        if line["written"].strip():
            yield line


def _width(line: re.Match[str]) -> int:
    return len(line["blanks"])


def _tabs(lines: list[re.Match[str]], column: int) -> SyntaxFault:
    tabbed = [line for line in lines if "\t" in line["blanks"][:column]]
    edits = tuple(Edit(_blanks(line), " " * column) for line in tabbed)
    place = _blanks(tabbed[0])
    fixes = (Fix("Indent with spaces", edits, preferred=len(edits) == 1),)
    return SyntaxFault(place, sentence(TAB), "yaml-tab", fixes=fixes)


def _shifted_lines(lines: list[re.Match[str]], number: int) -> SyntaxFault:
    """Return the fault of a text whose lines begin at several columns: the minority is wrong.

    ``number`` is that of the first line that is indented less than the first of all.
    """
    column = _width(lines[0])
    outer = [line for line in lines[number:] if _width(line) < column]
    if len(outer) < number:
        edits = tuple(Edit(_blanks(line), " " * column) for line in outer)
        message = "This line of a string is further to the left than the first line of it; indent it."
        fix = Fix("Align the line" if len(outer) == 1 else "Align the lines", edits)
        return SyntaxFault(_written_span(outer[0]), message, "yaml-indentation", fixes=(fix,))
    by = column - _width(lines[number])
    edits = tuple(Edit(Span(line.start(), line.start() + by), "") for line in lines[:number])
    spaces = counted(by, "space")
    message = f"The first line of a string sets the indentation of all, and this line is {spaces} further in."
    fix = Fix("Align the line" if number == 1 else "Align the lines", edits)
    return SyntaxFault(_written_span(lines[0]), message, "yaml-indentation", fixes=(fix,))


def _blanks(line: re.Match[str]) -> Span:
    return Span(line.start("blanks"), line.end("blanks"))


def _written_span(line: re.Match[str]) -> Span:
    return Span(line.start("written"), line.start("written") + len(line["written"].rstrip()))
