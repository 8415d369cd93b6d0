"""What can be written inside a string that is in a language of its own."""

from __future__ import annotations

from collections.abc import Iterator

from waza_engine.files import shown
from waza_language_server.embedded.language import Language, Word
from waza_language_server.embedded.languages import LONGEST_VALUE
from waza_language_server.features.completion_item import Completion, Place
from waza_language_server.features.surroundings import surroundings
from waza_language_server.text.edit import Edit
from waza_language_server.text.scalar_map import ScalarMap
from waza_language_server.text.span import Span


def embedded_items(place: Place, language: Language, kind: str | None) -> Iterator[Completion]:
    """Yield what can be written at the cursor in the language of a value of a kind."""
    written = _written(place)
    if written is None:
        return
    around = surroundings(place.document, place.workspace, kind, place.cursor.node)
    for position, word in enumerate(language.complete(*written, around)):
        if word.kind == "file":
            # A name that is no UTF-8 cannot be written in a suite.
            if shown(word.text) == word.text:
                yield _path(place, word, position)
        else:
            yield _item(place, word, position)


def _written(place: Place) -> tuple[str, int] | None:
    """Return the value and the cursor in it, None when it is too long to be looked into."""
    node, span = place.cursor.node, place.cursor.replace
    if node is not None and node.kind == "scalar" and node.span.contains(place.offset):
        if len(node.span) > LONGEST_VALUE:
            return None
        scalar = ScalarMap.of(place.text, node)
        return scalar.value, scalar.to_value(place.offset)
    # What cannot be read yet, as behind a quote that is still open.
    written = place.text[span.start : place.offset]
    before = written.replace('\\"', '"') if place.quote == '"' else written.replace("''", "'")
    return before, len(before)


def _path(place: Place, word: Word, position: int) -> Completion:
    edit = place.value(word.text)
    rank = f"1{position:03}{word.text}"
    return Completion(word.text, "file", word.detail, "", rank, edit, filter_text=word.text)


def _item(place: Place, word: Word, position: int) -> Completion:
    end = place.offset
    while end < len(place.text) and (place.text[end].isalnum() or place.text[end] == "_"):
        end += 1
    span = Span(place.offset - word.typed, end)
    rank = "1" if word.kind == "variable" else "2"
    text = word.text
    if place.quote == "'":
        text = text.replace("'", "''")
    elif not place.quote and not place.cursor.prefix:
        # An empty value: an expression is safest in double quotes.
        text = f'"{text}"'
    if place.text[span.start - 1 : span.start] in {":", "-"} and not place.quote and not word.typed:
        text = f" {text}"
    label = word.text.removesuffix("()")
    return Completion(
        label,
        word.kind,
        word.detail,
        word.documentation,
        f"{rank}{position:02}",
        Edit(span, text),
        filter_text=label,
    )
