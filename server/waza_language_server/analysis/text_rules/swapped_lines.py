"""Two swapped lines: the first key of an item with its dash, a block with its content."""

from __future__ import annotations

import re
from collections.abc import Iterator

from waza_engine.later_patterns import compiled_later
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.text_rules.slip import Slip
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.line_index import LineIndex
from waza_language_server.text.span import Span

_ROW = compiled_later(
    r"(?P<lead>[ ]*(?P<dash>-[ ]+)?)(?P<key>[A-Za-z_]\w*):(?P<value>[ \t]+[^\s#][^\r\n]*)?[ \t]*\Z"
)


def swapped_lines(text: str, lines: LineIndex, fault: SyntaxFault) -> Iterator[Slip]:
    """Yield the line at a fault swapped with the one next to it."""
    number = lines.line_of(fault.span.start)
    for below in (number, number + 1):
        yield from _dash_below(text, lines, below)
    yield from _block_below(text, lines, number)


def _dash_below(text: str, lines: LineIndex, number: int) -> Iterator[Slip]:
    """Yield a dash that is one line too low: `graders:`, ` type: text`, ` - name: a`."""
    first, second = _row(text, lines, number - 1), _row(text, lines, number)
    if first is None or second is None or first["dash"] is not None or second["dash"] is None:
        return
    if len(first["lead"]) != len(second["lead"]) or first["key"] == second["key"]:
        return
    start, below = lines.line_span(number - 1).start, lines.line_span(number).start
    dash = Span(below + second.start("dash"), below + second.end("dash"))
    blanks = Span(start + second.start("dash"), start + first.end("lead"))
    edits = (Edit(blanks, second["dash"]), Edit(dash, " " * len(dash)))
    message = f"The dash of this item belongs one line further up, in front of `{first['key']}`."
    whole = Edit(
        Span(blanks.start, dash.end), f"{second['dash']}{text[blanks.end : dash.start]}{' ' * len(dash)}"
    )
    fix = Fix("Move the dash up", edits)
    problem = Problem("yaml-syntax", Span(dash.start, dash.start + 1), message, "error", (fix,))
    yield Slip(problem, whole, known_at=blanks.end)


def _block_below(text: str, lines: LineIndex, number: int) -> Iterator[Slip]:
    """Yield the key of a block that is one line below its content: ` prompt: Go`, `inputs:`."""
    above, held, block = (_row(text, lines, each) for each in (number - 1, number, number + 1))
    below = _row(text, lines, number + 2)
    if held is None or block is None or held["value"] is None or block["value"] or held["dash"]:
        return
    column = len(block["lead"])
    if column >= len(held["lead"]) or (above is not None and len(above["lead"]) > column):
        return
    if below is not None and len(below["lead"]) > len(held["lead"]):
        return
    first, second = lines.line_span(number), lines.line_span(number + 1)
    between = text[first.end : second.start]
    upper = text[second.start : second.end]
    edit = Edit(Span(first.start, second.end), f"{upper}{between}{text[first.start : first.end]}")
    place = Span(first.start + held.start("key"), first.start + held.end("key"))
    message = f"`{held['key']}` belongs below `{block['key']}`, which stands one line too low."
    problem = Problem("yaml-indentation", place, message, "error", (Fix("Swap the two lines", (edit,)),))
    yield Slip(problem, edit, known_at=first.start + len(upper) + len(between) + held.start("key"))


def _row(text: str, lines: LineIndex, number: int) -> re.Match[str] | None:
    if not 0 <= number < lines.line_count:
        return None
    line = lines.line_span(number)
    return _ROW.match(text[line.start : line.end].rstrip("\r\n"))
