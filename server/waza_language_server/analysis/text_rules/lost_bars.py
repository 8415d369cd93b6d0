"""Multi-line strings without the bar that opens them, or with lines at the column of their key."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from waza_engine.later_patterns import compiled_later
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.text_rules.slip import Slip, as_one, column_of_line
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.line_index import LineIndex
from waza_language_server.text.span import Span

_BARE_KEY = compiled_later(
    r"(?P<lead>[ ]*(?:-[ ]+)*)(?P<key>[A-Za-z_][\w-]*)(?P<colon>:?)(?P<blanks>[ \t]*)"
    r"(?P<sign>\"[|>][-+]?\"|'[|>][-+]?'|\|[-+]?\||\|>|>\||\|:|-\||/|\\|\"\"\")?(?:[ \t]+#.*|[ \t]*)\Z"
)
_KEY_AND_TEXT = compiled_later(
    r"(?P<lead>[ ]*(?:-[ ]+)*)(?P<key>[A-Za-z_][\w-]*):[ \t]+[^\s\"'|>\[{&*!#%@`][^\r\n]*\Z"
)
_KEY_OR_ITEM = compiled_later(
    r"[ ]*(?:(?:-[ ]+)+|[A-Za-z_][\w-]*[ \t]*:(?:[ \t]|\Z)|[\[{\"'#]|---|\.\.\.|([<=>|])\1{6}|```)"
)
_BULLET = compiled_later(r"\s*[*•·‣◦–—]\s")
"""Lists with other bullets: they are not block texts."""
_THREE_QUOTES = '"' * 3
"""The delimiter of a multi-line string in Python."""
_LOOKED_AT = 60
"""The most lines above a fault to search for the key of the text."""
_MOST_LINES = 200


def lost_bar(text: str, lines: LineIndex, fault: SyntaxFault, texts: Collection[str]) -> Iterator[Slip]:
    """Yield the missing bar after one of the keys of ``texts``, with lines of text below it and no value."""
    number = lines.line_of(fault.span.start)
    margin = column_of_line(text, lines.line_span(number))
    for above in range(number, max(-1, number - _LOOKED_AT), -1):
        line = lines.line_span(above)
        written = text[line.start : line.end].rstrip()
        column = len(written) - len(written.lstrip(" "))
        key = _BARE_KEY.match(written)
        is_own = above == number and key is not None and (key["sign"] is not None or not key["colon"])
        if not written or (column >= margin and not is_own):
            continue
        margin = column
        if key is not None and key["key"] in texts and above + 1 < lines.line_count:
            last = _end_of_text(text, lines, above + 1, len(key["lead"]))
            if last < max(number, above + 1) or _BULLET.match(text, lines.line_span(above + 1).start):
                return
            if not key["colon"] and (key["sign"] is not None or last <= above + 1):
                # With one line below it, only the colon is missing.
                return
            place = Span(line.start + key.start("key"), line.start + key.end("key"))
            behind = key.start("blanks") if key["sign"] is None else key.end("sign")
            bar = " |" if key["colon"] else ": |"
            edits = [Edit(Span(line.start + key.start("blanks"), line.start + behind), bar)]
            if key["sign"] == _THREE_QUOTES:
                edits += _closing_quotes(text, lines, last)
            written = f"`{key['key']}: |`"
            message = (
                f"Lines of text stand below `{key['key']}`; write {written}, which makes one text of them."
            )
            fix = Fix(f"Write {written}", tuple(edits))
            body = Span(lines.line_span(above + 1).start, max(lines.line_span(last).end, edits[-1].span.end))
            problem = Problem("yaml-syntax", place, message, "error", (fix,))
            edit = as_one(text, edits)
            yield Slip(problem, edit, known_at=place.start, cures=body)
            return


def _closing_quotes(text: str, lines: LineIndex, last: int) -> Iterator[Edit]:
    """Yield the edit that deletes the line with nothing but the closing quotes of a text."""
    for number in (last, last + 1):
        line = lines.line_span(min(number, lines.line_count - 1))
        if text[line.start : line.end].strip() == _THREE_QUOTES:
            above = lines.line_span(number - 1).end
            yield Edit(Span(above, line.end), "")
            return


def quoted_text_at_margin(
    text: str, lines: LineIndex, fault: SyntaxFault, texts: Collection[str]
) -> Iterator[Slip]:
    """Yield the lines between triple quotes that are not indented further than the key of their text."""
    number = lines.line_of(fault.span.start)
    opening = lines.line_span(number)
    key = _BARE_KEY.match(text[opening.start : opening.end].rstrip())
    if key is None or key["key"] not in texts or not key["colon"] or key["sign"] != _THREE_QUOTES:
        return
    rows: list[Span] = []
    for below in range(number + 1, min(lines.line_count, number + _MOST_LINES)):
        rows.append(lines.line_span(below))
        if text[rows[-1].start : rows[-1].end].strip() == _THREE_QUOTES:
            break
    else:
        return
    *rows, closing = rows
    columns = [column_of_line(text, row) for row in rows if text[row.start : row.end].strip()]
    if not columns or min(columns) > len(key["lead"]):
        return
    shift = len(key["lead"]) + 2 - min(columns)
    edits = [Edit(Span(opening.start + key.start("sign"), opening.start + key.end("sign")), "|")]
    edits += [
        Edit(Span(row.start, row.start), " " * shift) for row in rows if text[row.start : row.end].strip()
    ]
    edits.append(Edit(Span(rows[-1].end, closing.end), ""))
    written = f"`{key['key']}: |`"
    place = Span(opening.start + key.start("key"), opening.start + key.end("key"))
    message = f"YAML knows no three quotes; write {written}, and indent the lines of the text."
    fix = Fix(f"Write {written}", tuple(edits))
    problem = Problem("yaml-syntax", place, message, "error", (fix,))
    edit = as_one(text, edits)
    yield Slip(problem, edit, known_at=place.start, cures=edit.span)


def plain_text_at_margin(
    text: str, lines: LineIndex, fault: SyntaxFault, texts: Collection[str]
) -> Iterator[Slip]:
    """Yield the lines of an unquoted text that are not indented further than its key."""
    number = lines.line_of(fault.span.start)
    line = lines.line_span(number)
    written = text[line.start : line.end].rstrip()
    if " " not in written.strip() or fault.fixes or _KEY_OR_ITEM.match(written):
        # A character of the line itself may be wrong, and a word alone is a key that is being written.
        return
    column = column_of_line(text, line)
    above = number - 1
    while above > number - _LOOKED_AT and above >= 0 and not _has_key(text, lines, above):
        above -= 1
    opening = lines.line_span(max(above, 0))
    key = _KEY_AND_TEXT.match(text[opening.start : opening.end].rstrip())
    if key is None or key["key"] not in texts or len(key["lead"]) < column or above < 0:
        return
    last = number
    for below in range(number + 1, min(lines.line_count, number + _MOST_LINES)):
        row = text[lines.line_span(below).start : lines.line_span(below).end]
        if _KEY_OR_ITEM.match(row) or (row.strip() and column_of_line(text, lines.line_span(below)) < column):
            break
        last = below if row.strip() else last
    shift = " " * (len(key["lead"]) + 2 - column)
    parts: list[str] = []
    for each in range(number, last + 1):
        row = lines.line_span(each)
        end = lines.line_span(each + 1).start if each < last else row.end
        parts += shift if text[row.start : row.end].strip() else "", text[row.start : end]
    edit = Edit(Span(line.start, lines.line_span(last).end), "".join(parts))
    place = Span(line.start + column, line.start + len(written))
    message = f"The text of `{key['key']}` must stand further to the right than its key; indent it."
    problem = Problem("yaml-indentation", place, message, "error", (Fix("Indent the text", (edit,)),))
    yield Slip(problem, edit, cures=edit.span)


def _has_key(text: str, lines: LineIndex, number: int) -> bool:
    line = lines.line_span(number)
    return _KEY_OR_ITEM.match(text[line.start : line.end]) is not None


def _end_of_text(text: str, lines: LineIndex, first: int, column: int) -> int:
    """Return the last line further to the right than ``column``."""
    last = first - 1
    for number in range(first, min(lines.line_count, first + _MOST_LINES)):
        line = lines.line_span(number)
        if text[line.start : line.end].strip():
            if column_of_line(text, line) <= column:
                break
            last = number
    return last
