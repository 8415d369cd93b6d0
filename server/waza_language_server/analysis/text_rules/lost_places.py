"""Lines with a misplaced part: a value below its key, a key too far to the left, a lost quote."""

from __future__ import annotations

from collections.abc import Container, Iterator

from waza_engine.counting import counted
from waza_engine.later_patterns import compiled_later
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.text_rules.slip import Slip, column_of_line
from waza_language_server.analysis.text_rules.written_lines import KEY
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.line_index import LineIndex
from waza_language_server.text.span import Span

_BARE_KEY = compiled_later(r"(?P<lead>[ ]*(?:-[ ]+)*)(?P<key>[A-Za-z_][\w-]*):[ \t]*\Z")
_QUOTE_AND_KEY = compiled_later(r"[ ]*(?:-[ ]+)*(?P<sign>[\"'])(?P<key>[A-Za-z_][\w-]*):(?:[ \t][^\"']*)?\Z")
_ITEM = compiled_later(r"[ ]*-[ ]+\S")
_KEY_OR_ITEM = compiled_later(
    r"[ ]*(?:-(?:[ ]|\Z)|[A-Za-z_][\w-]*[ \t]*:(?:[ \t]|\Z)|[\w-]+[;.,=][ ]|[#\]}>|`<=]|---)"
)
_LOOKED_AT = 60
_COLUMNS_TRIED = 4


def quote_before_key(text: str, lines: LineIndex, fault: SyntaxFault) -> Iterator[Slip]:
    """Yield the unclosed quote before a key: `"name: One`."""
    line = lines.line_span(lines.line_of(fault.span.start))
    match = _QUOTE_AND_KEY.match(text[line.start : line.end].rstrip())
    if match is not None:
        sign = Span(line.start + match.start("sign"), line.start + match.end("sign"))
        edit = Edit(sign, "")
        message = f"This quote makes a text of `{match['key']}` and its value; delete it."
        problem = Problem("yaml-syntax", sign, message, "error", (Fix("Delete the quote", (edit,)),))
        yield Slip(problem, edit, known_at=sign.start)


def value_below_key(text: str, lines: LineIndex, fault: SyntaxFault) -> Iterator[Slip]:
    """Yield a value on the line below its key that is not indented further than it."""
    number = lines.line_of(fault.span.start)
    if fault.fixes:
        # A character of the line itself is wrong.
        return
    line, above = lines.line_span(number), lines.line_span(max(number - 1, 0))
    written = text[line.start : line.end].rstrip()
    key = _BARE_KEY.match(text[above.start : above.end].rstrip("\r\n"))
    if key is None or not number or not written.strip() or _KEY_OR_ITEM.match(written):
        return
    start = line.start + len(written) - len(written.lstrip(" "))
    if column_of_line(text, line) > len(key["lead"]) or _goes_on(text, lines, number):
        return
    edit = Edit(Span(above.start + key.end("key") + 1, start), " ")
    name = key["key"]
    message = f"The value of `{name}` must stand behind its colon, or further to the right than the key."
    fix = Fix(f"Write it behind `{name}:`", (edit,))
    problem = Problem("yaml-indentation", Span(start, line.start + len(written)), message, "error", (fix,))
    yield Slip(problem, edit, known_at=above.start + key.start("key"))


def _goes_on(text: str, lines: LineIndex, number: int) -> bool:
    """Return whether an item or more text is below a line of text: then there are several values.

    An item further to the left is one of the list around it.
    """
    if number + 1 >= lines.line_count:
        return False
    below = lines.line_span(number + 1)
    written = text[below.start : below.end].rstrip()
    if _ITEM.match(written) is not None:
        return column_of_line(text, below) >= column_of_line(text, lines.line_span(number))
    return bool(written) and _KEY_OR_ITEM.match(written) is None


def first_text_without_dash(text: str, lines: LineIndex, fault: SyntaxFault) -> Iterator[Slip]:
    """Yield the missing dash of a string next to an item at its column, or next to the place of its dash."""
    number = lines.line_of(fault.span.start)
    for row, beside in ((number, 1), (number - 1, 1), (number, -1)):
        if row < 0 or not 0 <= row + beside < lines.line_count or fault.fixes:
            continue
        line, item = lines.line_span(row), lines.line_span(row + beside)
        written = text[line.start : line.end].rstrip()
        if not written.strip() or _KEY_OR_ITEM.match(written) or written.lstrip().startswith("-"):
            continue
        if not _ITEM.match(text[item.start : item.end]):
            continue
        column, dash = column_of_line(text, line), column_of_line(text, item)
        if column < dash or (beside < 0 and column > dash):
            continue
        edit = Edit(Span(line.start, line.start + column), f"{' ' * dash}- ")
        place = Span(line.start + column, line.start + len(written))
        message = "A list item starts with a dash; write `- ` before this."
        problem = Problem("yaml-syntax", place, message, "error", (Fix("Insert the dash", (edit,)),))
        yield Slip(problem, edit, cures=Span(min(line.start, item.start), max(line.end, item.end)))


def key_too_far_left(
    text: str, lines: LineIndex, fault: SyntaxFault, known_outside: Container[str]
) -> Iterator[Slip]:
    """Yield a key that is further to the left than its block, above the lines that it breaks.

    A key of ``known_outside`` at the margin is in its place.
    """
    number = lines.line_of(fault.span.start)
    disturbed = margin = column_of_line(text, lines.line_span(number))
    for row in range(number, max(-1, number - _LOOKED_AT), -1):
        line = lines.line_span(row)
        written = text[line.start : line.end].rstrip()
        key = KEY.match(written)
        column = len(written) - len(written.lstrip(" "))
        if key is None or (row < number and column >= margin):
            continue
        margin = column
        is_outside = not column and key["key"] in known_outside
        if key["lead"].strip() or (is_outside and f"\n{key['key']}:" not in f"\n{text[: line.start]}"):
            return
        is_bare = key.end() == len(written)
        inner = _column_of_block(text, lines, row) if is_bare else 0
        beside = (disturbed,) if is_bare else ()
        for usual in dict.fromkeys((*_columns_above(text, lines, row, column), *beside)):
            if usual <= column or column < inner <= usual:
                # The lines below it were moved as well.
                continue
            edit = Edit(Span(line.start, line.start + column), " " * usual)
            spaces = counted(usual, "space")
            message = f"`{key['key']}` belongs to the block above, so indent it by {spaces}."
            place = Span(line.start + column, line.start + len(written))
            problem = Problem("yaml-indentation", place, message, "error", (Fix("Align the line", (edit,)),))
            yield Slip(problem, edit, known_at=line.start + usual, cures=Span(0, len(text)))
        if not column:
            return


def _column_of_block(text: str, lines: LineIndex, number: int) -> int:
    """Return the column of the first line below a key; plus one for an item, which may be at the key's."""
    for below in range(number + 1, min(lines.line_count, number + _LOOKED_AT)):
        line = lines.line_span(below)
        written = text[line.start : line.end]
        if written.strip():
            return column_of_line(text, line) + (_ITEM.match(written) is not None)
    return 0


def _columns_above(text: str, lines: LineIndex, number: int, column: int) -> Iterator[int]:
    """Yield the columns of the keys above a line that are further to the right, the nearest line first."""
    found: dict[int, None] = {}
    for above in range(number - 1, max(-1, number - _LOOKED_AT), -1):
        line = lines.line_span(above)
        key = KEY.match(text[line.start : line.end].rstrip())
        if key is not None and len(key["lead"]) > column:
            found[len(key["lead"])] = None
        elif key is not None or len(found) >= _COLUMNS_TRIED:
            break
    yield from list(found)[:_COLUMNS_TRIED]
