"""A line with a missing or an extra character: `executor mock`, `"a: b"`, no `config:`.

The known keys of a suite show what was intended; each repair is validated before it is offered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_engine.spec.reading.scalars import MERGE_KEY
from waza_language_server.analysis.text_rules.written_lines import KEY
from waza_language_server.schema.catalog import Catalog, SchemaName
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.syntax.wrong_signs import sign_message
from waza_language_server.text.edit import Edit
from waza_language_server.text.line_index import LineIndex
from waza_language_server.text.span import Span

_LOST_COLON = compiled_later(
    r"[ ]*(?:-[ ]+)*(?P<key>[A-Za-z_]\w*|<<(?=[ \t]+[*\[]))"
    r"(?P<sign>[ \t]*(?:[:=]=|[-~]>)[ \t]*|[.,]?[ \t]+)"
    r"(?=[^\s:=|>#]|[|>][-+]?\Z)[^\r\n]*\Z"
)
_DASH_AND_KEY = compiled_later(r"[ ]*(?P<dash>-)[ ]+(?P<key>[A-Za-z_]\w*):(?:[ \t]|\Z)")
_QUOTED_LINE = compiled_later(
    r"[ ]*(?:-[ ]+)*(?P<sign>[\"'])"
    r"(?P<inner>(?P<key>[A-Za-z_][\w-]*):[ \t]+[^\s\"'\\][^\"'\\\r\n]*)(?P=sign)\Z"
)
_DRESSED_KEY = compiled_later(
    r"[ ]*(?:-[ ]+)*(?P<written>(?P<sign>`|\*\*)(?P<key>[A-Za-z]\w*?)(?:(?P=sign)[ \t]*:|:(?P=sign))"
    r"|(?P<quote>[\"'])(?P<word>[A-Za-z_]\w*):(?P=quote))(?=[ \t]|\Z)"
)
"""A key as printed in bold or as code, or quoted together with its colon."""
_NOTE = compiled_later(r"[ \t]#")
_WORD_ALONE = compiled_later(r"[ ]*(?P<key>[A-Za-z_]\w*)\Z")
_ITEM = compiled_later(r"(?P<lead>[ ]*)-[ ]")
_LOOKED_AT = 40
"""The most lines above one to search for the key before it."""
_BLOCKS_TRIED = 3


@frozen()
class LostSign:
    """A missing character or line at ``place``; ``known_at`` is the offset of its key after the edit."""

    place: Span
    message: str
    title: str
    edit: Edit
    known_at: int | None = None
    code: str = "yaml-syntax"


def lost_signs(
    text: str, lines: LineIndex, fault: SyntaxFault, kind: SchemaName, catalog: Catalog
) -> Iterator[LostSign]:
    """Yield the characters that may be missing on the line of a fault, or above it."""
    number = lines.line_of(fault.span.start)
    line = lines.line_span(number)
    written = text[line.start : line.end].rstrip()
    dressed = _DRESSED_KEY.match(written)
    if dressed is not None:
        key = dressed["key"] or dressed["word"]
        place = Span(line.start + dressed.start("written"), line.start + dressed.end("written"))
        message = f"A key stands without signs around it and its colon; write `{key}:`."
        yield LostSign(place, message, f"Write `{key}:`", Edit(place, f"{key}:"), place.start)
    line_in_quotes = _QUOTED_LINE.match(written)
    if line_in_quotes is not None:
        place = Span(line.start + line_in_quotes.start("sign"), line.start + len(written))
        message = f"The quotes around `{line_in_quotes['key']}` and its value make text of both; remove them."
        yield LostSign(place, message, "Remove the quotes", Edit(place, line_in_quotes["inner"]), place.start)
    dash = _DASH_AND_KEY.match(written)
    if dash is not None:
        place = Span(line.start + dash.start("dash"), line.start + dash.start("key"))
        message = f"`{dash['key']}` is a key among others here, not an item of a list; delete the dash."
        sign = Span(place.start, place.start + 1)
        yield LostSign(sign, message, "Delete the dash", Edit(place, ""), place.start)
    colon = _LOST_COLON.match(written)
    if colon is not None:
        key = Span(line.start + colon.start("key"), line.start + colon.end("key"))
        edit = Edit(Span(key.end, line.start + colon.end("sign")), ": ")
        message = f"A colon is missing behind `{colon['key']}`; write `{colon['key']}: ` before the value."
        if len(colon["sign"].strip()) > 1:
            message = sign_message(colon["key"], colon["sign"].strip())
        # A mapping may be merged into any other one, which needs no schema.
        known_at = key.start if colon["key"] != MERGE_KEY else None
        yield LostSign(key, message, f"Write `{colon['key']}: `", edit, known_at)
    if (word := _WORD_ALONE.match(written)) is not None and number + 1 < lines.line_count:
        below = lines.line_span(number + 1)
        item = _ITEM.match(text, below.start, below.end)
        if item is not None and len(item["lead"]) >= word.start("key"):
            key = Span(line.start + word.start("key"), line.start + word.end("key"))
            message = f"A colon is missing here; write `{word['key']}:`."
            yield LostSign(key, message, "Add the colon", Edit(Span(key.end, key.end), ":"), key.start)
    yield from _lost_blocks(text, lines, number, kind, catalog)


def _lost_blocks(
    text: str, lines: LineIndex, number: int, kind: SchemaName, catalog: Catalog
) -> Iterator[LostSign]:
    """Yield the keys of blocks that may be missing above a line that is indented too far."""
    line = lines.line_span(number)
    key = KEY.match(text[line.start : line.end].rstrip())
    if key is None or key["lead"].strip():
        return
    above = next(_keys_above(text, lines, number, len(key["lead"])), None)
    if above is None:
        return
    holder, start = above
    column = len(holder["lead"])
    blocks = _blocks_with(key["key"], kind, catalog)
    # A key after it lacks its line break.
    is_value = KEY.match(text[start + holder.end() : lines.line_span(lines.line_of(start)).end]) is None
    if is_value and holder["key"] in blocks and lines.line_of(start) == number - 1:
        place = Span(start + holder.end(), lines.line_span(number - 1).end)
        written = _NOTE.split(text[place.start : place.end], maxsplit=1)[0].rstrip()
        message = (
            f"`{written}` is the whole value of `{holder['key']}`, so the lines below cannot belong to it."
        )
        edit = Edit(Span(start + holder.end("key") + 1, place.start + len(written)), "")
        known_at = lines.line_span(number).start + key.start("key") - len(edit.span)
        marked = Span(place.start, place.start + len(written))
        yield LostSign(marked, message, f"Delete `{written}`", edit, known_at)
    ending = "\r\n" if "\r\n" in text else "\n"
    for name in blocks[:_BLOCKS_TRIED]:
        inserted = f"{' ' * column}{name}:{ending}"
        place = Span(line.start + key.start("key"), line.start + key.end("key"))
        message = f"`{key['key']}` belongs below `{name}:`, which is missing above this line."
        edit = Edit(Span(line.start, line.start), inserted)
        known_at = place.start + len(inserted)
        yield LostSign(place, message, f"Write `{name}:` above", edit, known_at, "yaml-indentation")


def _keys_above(text: str, lines: LineIndex, number: int, column: int) -> Iterator[tuple[re.Match[str], int]]:
    """Yield the nearest key above a line and to the left of it, and the offset of its line."""
    for above in range(number - 1, max(-1, number - _LOOKED_AT), -1):
        line = lines.line_span(above)
        holder = KEY.match(text[line.start : line.end].rstrip())
        if holder is not None and len(holder["lead"]) < column:
            yield holder, line.start
            return
        if holder is not None:
            # A key at the same column, or further to the right, has the block that contains it.
            return


def _blocks_with(key: str, kind: SchemaName, catalog: Catalog) -> list[str]:
    """Return the keys of a document, or of a grader, that hold a block with such a key in it."""
    top = catalog.document_root(kind).top
    found = [name for name, each in top.properties.items() if key in each.shape.branch("mapping").properties]
    if any(key in catalog.options_of(name) for name in catalog.grader_types):
        found.append("config")
    return list(dict.fromkeys(found))
