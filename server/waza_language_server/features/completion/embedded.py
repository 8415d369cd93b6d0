"""Completion inside a string that is in a language of its own."""

from __future__ import annotations

from collections.abc import Iterator

from waza_engine.files import shown
from waza_language_server.embedded.language import Language, Word
from waza_language_server.embedded.languages import LONGEST_VALUE
from waza_language_server.features.completion.item import Completion, Place
from waza_language_server.features.surroundings import surroundings
from waza_language_server.text.edit import Edit
from waza_language_server.text.scalar_map import ScalarMap
from waza_language_server.text.span import Span


def embedded_items(place: Place, language: Language, kind: str | None) -> Iterator[Completion]:
    """Yield what can be written at the cursor in the language of a value of a kind."""
    scalar = _scalar(place)
    if scalar is not None and len(scalar.node.span) > LONGEST_VALUE:
        return
    value, offset = _unread(place) if scalar is None else _read(scalar, place.offset)
    around = surroundings(place.document, place.workspace, kind, place.cursor.node)
    for position, word in enumerate(language.complete(value, offset, around)):
        if word.kind == "file":
            # A name that is not UTF-8 cannot be written in a suite.
            if shown(word.text) == word.text:
                yield _path(place, word, position)
        else:
            yield _item(place, scalar, word, position)


def _scalar(place: Place) -> ScalarMap | None:
    """Return the value around the cursor, None if there is none yet or it cannot be read."""
    node = place.cursor.node
    if node is None or node.kind != "scalar":
        return None
    below = node.style in {"literal", "folded"} and node.span.end < place.offset
    return ScalarMap.of(place.text, node) if below or node.span.contains(place.offset) else None


def _read(scalar: ScalarMap, offset: int) -> tuple[str, int]:
    """Return a value and the cursor in it, which may be on a blank line below a block."""
    if offset <= scalar.node.span.end:
        return scalar.value, scalar.to_value(offset)
    value = scalar.value.rstrip("\n") + "\n"
    return value, len(value)


def _unread(place: Place) -> tuple[str, int]:
    """Return the text before the cursor if the value cannot be read, as after an open quote."""
    written = place.text[place.cursor.replace.start : place.offset]
    before = written.replace('\\"', '"') if place.quote == '"' else written.replace("''", "'")
    return before, len(before)


def _path(place: Place, word: Word, position: int) -> Completion:
    edit = place.value(word.text)
    rank = f"1{position:03}{word.text}"
    return Completion(word.text, "file", word.detail, "", rank, edit, filter_text=word.text)


def _item(place: Place, scalar: ScalarMap | None, word: Word, position: int) -> Completion:
    """Return a name that replaces the typed prefix; only the name of a call if it is called already."""
    span, called = _replaced(place, scalar, word)
    text = word.text.partition("(")[0] if called else word.text
    if place.quote == "'" or (scalar is not None and scalar.node.style == "single"):
        text = text.replace("'", "''")
    elif not (scalar is not None and _is_begun(scalar)) and not place.quote and not place.cursor.prefix:
        # An empty value: an expression is safest in double quotes.
        text = f'{place.lead(span)}"{text}"{place.comma}'
    label = word.text.removesuffix("()")
    rank = "2" if word.kind == "function" else "1"
    return Completion(
        label,
        word.kind,
        word.detail,
        word.documentation,
        f"{rank}{position:02}",
        Edit(span, text),
        filter_text=label,
    )


def _is_begun(scalar: ScalarMap) -> bool:
    """Return whether names need no quotes: inside a non-empty value, or in a block scalar."""
    return bool(scalar.value) or scalar.node.style in {"literal", "folded"}


def _replaced(place: Place, scalar: ScalarMap | None, word: Word) -> tuple[Span, bool]:
    """Return the span of the unfinished name on the cursor's line, and whether it is called."""
    text, start, end = place.text, place.offset - word.typed, place.offset
    called = False
    if scalar is None:
        end = _end_of_name(text, end)
        called = text.startswith("(", end)
    elif scalar.to_source(at := scalar.to_value(place.offset)) <= place.offset:
        behind = _end_of_name(scalar.value, at)
        start = scalar.to_source(at - word.typed) if word.typed else place.offset
        end = max(end, scalar.source_span(at, behind).end)
        called = scalar.value.startswith("(", behind)
    if "\n" in text[start:end] or "\r" in text[start:end]:
        return Span(place.offset - word.typed, place.offset), False
    return Span(start, end), called


def _end_of_name(text: str, offset: int) -> int:
    while offset < len(text) and (text[offset].isalnum() or text[offset] == "_"):
        offset += 1
    return offset
