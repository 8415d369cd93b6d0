"""Block scalars (`|`, `>`) that end in the middle for YAML: at a dedented line, at a tab."""

from __future__ import annotations

import re
from collections.abc import Iterator

from waza_engine.counting import counted
from waza_engine.later_patterns import compiled_later
from waza_engine.spec.reading.yaml_faults import TAB, sentence
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

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
        return SyntaxFault(_content(outer[0]), message, "yaml-indentation", fixes=(fix,))
    by = column - _width(lines[number])
    edits = tuple(Edit(Span(line.start(), line.start() + by), "") for line in lines[:number])
    spaces = counted(by, "space")
    message = f"The first line of a string sets the indentation of all, and this line is {spaces} further in."
    fix = Fix("Align the line" if number == 1 else "Align the lines", edits)
    return SyntaxFault(_content(lines[0]), message, "yaml-indentation", fixes=(fix,))


def _blanks(line: re.Match[str]) -> Span:
    return Span(line.start("blanks"), line.end("blanks"))


def _content(line: re.Match[str]) -> Span:
    return Span(line.start("written"), line.start("written") + len(line["written"].rstrip()))
