"""Wrong characters in brackets: `["a";"b"]`, `[a, b)`, `["a", "b]`, `[a,, b]`, `{a: b c: d}`.

A repair is accepted only if all of the brackets parse afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_language_server.syntax.author_style import line_break
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.syntax.flow_quotes import reads_with
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

_LONGEST = 2_000
"""The most characters of a value in brackets to repair: it is parsed again for each attempt."""
_TRIALS = 12
_TEXT = r"(?:\"(?:[^\"\\\r\n]|\\.)*\"|'(?:[^'\r\n]|'')*')"
_TEXTS = compiled_later(rf"{_TEXT}(?:[ \t]*,[ \t]*{_TEXT})+")
_ITEMS = compiled_later(rf"{_TEXT}(?:[ \t]*[, \t][ \t]*{_TEXT})+")
_BETWEEN = compiled_later(rf"{_TEXT}(?P<between>[ \t]*[, \t][ \t]*)(?=[\"'])")
_DASH = compiled_later(r"[ ]*-[ ]+")
_SEMICOLON = compiled_later(r"(?<=[\"'])[ \t]*(?P<sign>[;|])[ \t]*(?=[\"'])")
_TWO_COMMAS = compiled_later(r",[ \t]*(?P<sign>,)")
_OTHER_CLOSING = compiled_later(r"(?P<sign>[)}\]>])[ \t]*\Z")
_OPENED = r"""[ \t]*(?P<quote>["'])(?P<inner>"""
_UNCLOSED_ITEM = compiled_later(rf"""(?<=[\[,{{:]){_OPENED}[^"'\r\n\\]+?)[ \t]*[\]}}]+[ \t]*\Z""")
_UNCLOSED_BEFORE_COMMA = compiled_later(
    rf"""(?<=[\[,]){_OPENED}[^"',\r\n\\]+)(?=,[ \t]*(?P=quote)[^"',\r\n\\]+(?P=quote)[ \t]*[,\]])"""
)
_SEMICOLON_BEFORE_KEY = compiled_later(r"[ \t]*(?P<sign>;)[ \t]*(?=[\"']?[A-Za-z_][\w-]*[\"']?:[ \t])")
_KEY_AND_SIGN = compiled_later(r"(?<=[{,])\s*(?P<key>[A-Za-z_][\w-]*)(?P<sign>:(?=[\[{])|=(?=[\[{\"']))")
_KEY_WITH_ONE_QUOTE = compiled_later(r"(?<=[{,])\s*(?P<quote>\")(?P<key>[A-Za-z_][\w-]*)(?=:[ \t])")
_COLON_IN_VALUE = compiled_later(
    r"(?<=[\w\"']:)[ \t]+(?P<value>[A-Za-z][^,:{}\[\]\"'#\r\n]*:[ \t]+[^,{}\[\]\"'#\r\n]*[^,{}\[\]\"'#\s])"
    r"(?=[ \t]*[,}])"
)
_KEY_BEHIND_WORD = compiled_later(r"(?<=[\w.-])(?P<blank>[ \t]+)(?P<key>[A-Za-z_][\w-]*):[ \t]")


@frozen()
class _Reading:
    """A possible meaning of brackets: the edits, their title, and the reason."""

    place: Span
    edits: tuple[Edit, ...]
    title: str
    message: str


def slip_in_brackets(text: str, part: Span) -> SyntaxFault | None:
    """Return the fault of a wrong character in an unparsable value in brackets, or None."""
    if len(part) > _LONGEST:
        return None
    for reading in islice(_readings(text, part), _TRIALS):
        if reads_with(text, part, reading.edits):
            return SyntaxFault(reading.place, reading.message, fixes=(Fix(reading.title, reading.edits),))
    return None


def list_of_texts(text: str, place: Span) -> tuple[Fix, ...]:
    """Return the fix that makes quoted strings with commas a list, or items of the list around them.

    For items of a list the commas may be missing, too.
    """
    line = text.rfind("\n", 0, place.start) + 1
    dash = _DASH.fullmatch(text, line, place.start)
    if dash is not None and _ITEMS.fullmatch(text, place.start, place.end) is not None:
        item = f"{line_break(text)}{dash[0]}"
        between = [match.span("between") for match in _BETWEEN.finditer(text, place.start, place.end)]
        return (Fix("Make an item of each", tuple(Edit(Span(*each), item) for each in between)),)
    if _TEXTS.fullmatch(text, place.start, place.end) is None:
        return ()
    edits = (Edit(Span(place.start, place.start), "["), Edit(Span(place.end, place.end), "]"))
    return (Fix("Make it a list", edits),)


def _readings(text: str, part: Span) -> Iterator[_Reading]:
    start, end = part.start, part.end
    signs = list(_SEMICOLON.finditer(text, start, end))
    if signs:
        edits = tuple(Edit(Span(each.start(), each.end()), ", ") for each in signs)
        place = Span(signs[0].start("sign"), signs[0].end("sign"))
        message = f"Commas part the items in brackets, not `{signs[0]['sign']}`."
        yield _Reading(place, edits, f"Write `,` for `{signs[0]['sign']}`", message)
    commas = [Span(each.start("sign"), each.end("sign")) for each in _TWO_COMMAS.finditer(text, start, end)]
    if commas:
        edits = tuple(Edit(each, "") for each in commas)
        yield _Reading(commas[0], edits, "Delete the comma", "Nothing stands between these two commas.")
    yield from _closed_otherwise(text, part)
    for match in _UNCLOSED_BEFORE_COMMA.finditer(text, start, end):
        at = match.end("inner")
        yield _unclosed(match, len(text[match.start("inner") : at].rstrip()))
    if match := _UNCLOSED_ITEM.search(text, start, end):
        yield _unclosed(match, len(match["inner"]))
    yield from _signs_of_pairs(text, start, end)
    for match in _KEY_BEHIND_WORD.finditer(text, start, end):
        edit = Edit(Span(match.start("blank"), match.start("blank")), ",")
        place = Span(match.start("key"), match.end("key"))
        yield _Reading(place, (edit,), "Add the comma", "A comma is missing in front of this.")
    for match in _COLON_IN_VALUE.finditer(text, start, end):
        place = Span(match.start("value"), match.end("value"))
        edit = Edit(place, f"'{match['value']}'")
        message = "A value with `: ` inside is read as a key of its own; put the value in quotes."
        yield _Reading(place, (edit,), "Put the value in quotes", message)


def _signs_of_pairs(text: str, start: int, end: int) -> Iterator[_Reading]:
    """Yield possible meanings of pairs in braces: `{a: 1; b: 2}`, `{a:[1]}`, `{a=[1]}`, `{"a: 1}`."""
    for match in _SEMICOLON_BEFORE_KEY.finditer(text, start, end):
        place = Span(match.start("sign"), match.end("sign"))
        edit = Edit(Span(match.start(), match.end()), ", ")
        yield _Reading(place, (edit,), "Write `,` for `;`", "Commas part the items in brackets, not `;`.")
    for match in _KEY_AND_SIGN.finditer(text, start, end):
        key, sign = match["key"], match["sign"]
        message = f"A space is missing after `{key}:`; write one before the value."
        if sign == "=":
            message = f"`=` is no colon; write `{key}: ` before the value."
        edit = Edit(Span(match.start("sign"), match.end("sign")), ": ")
        yield _Reading(Span(match.start("key"), match.end("sign")), (edit,), f"Write `{key}: `", message)
    unclosed = list(_KEY_WITH_ONE_QUOTE.finditer(text, start, end))
    for matches in (unclosed, *([each] for each in unclosed)):
        if matches:
            edits = tuple(Edit(Span(each.end("key"), each.end("key")), '"') for each in matches)
            message = f'The quote of `{matches[0]["key"]}` is never closed; write `"` before the colon.'
            place = Span(matches[0].start("quote"), matches[0].end("key"))
            title = 'Add the closing `"`' if len(edits) == 1 else "Add the closing quotes"
            yield _Reading(place, edits, title, message)


def _closed_otherwise(text: str, part: Span) -> Iterator[_Reading]:
    match = _OTHER_CLOSING.search(text, part.start, part.end)
    if match is None:
        return
    opening, sign = text[part.start], match["sign"]
    closing = "]" if opening == "[" else "}"
    place = Span(match.start("sign"), match.end("sign"))
    if sign != closing and (sign != ")" or "(" not in text[part.start : place.start]):
        message = f"`{sign}` does not close the `{opening}` opened before; write `{closing}`."
        yield _Reading(place, (Edit(place, closing),), f"Write `{closing}` for `{sign}`", message)
    if sign in "]}":
        inner = "]" if sign == "}" else "}"
        message = f"A bracket opened before is not closed yet; write `{inner}` in front of this."
        yield _Reading(
            place, (Edit(Span(place.start, place.start), inner),), f"Add the closing `{inner}`", message
        )


def _unclosed(match: re.Match[str], length: int) -> _Reading:
    at = match.start("inner") + length
    quote = match["quote"]
    place = Span(match.start("quote"), at)
    message = f"The quote opened here is never closed; end the text with `{quote}`."
    return _Reading(place, (Edit(Span(at, at), quote),), f"Add the closing `{quote}`", message)
