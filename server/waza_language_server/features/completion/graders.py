"""Grader types: as the value of ``type:`` with the options they need, or as a whole new grader."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from waza_language_server.features.completion.item import Completion, Place
from waza_language_server.features.completion.snippets import grader_snippet
from waza_language_server.features.hover.shape_text import notes
from waza_language_server.schema.usage import GRADER_TYPES, usage_rank

if TYPE_CHECKING:
    from waza_language_server.schema.shape import Shape
    from waza_language_server.text.edit import Edit


def grader_type_items(place: Place) -> Iterator[Completion]:
    """Yield the grader types as values; where the entry has no options yet, they come along."""
    existing = set(place.cursor.existing_keys) - {"type"}
    for name, shape in _types(place):
        options = ""
        if shape.snippet and "config" not in existing and not place.cursor.in_flow and not place.quote:
            skipped = ("type", *existing)
            options = grader_snippet(shape.snippet, place.layout, without=skipped).replace("\n  ", "\n")
        edit = place.line(f"{name}\n{options}") if options else place.value(name)
        yield _item(name, shape, edit, is_snippet=bool(options))


def grader_items(place: Place) -> Iterator[Completion]:
    """Yield a whole new grader of each type."""
    if place.cursor.in_flow or place.follows_colon:
        return
    kept = tuple(place.cursor.existing_keys)
    for name, shape in _types(place):
        text = grader_snippet(shape.snippet or f"- type: {name}", place.layout, without=kept)
        text = text if place.cursor.needs_dash else text.replace("\n  ", "\n")
        edit = place.line(f"- {text}" if place.cursor.needs_dash else text)
        yield _item(name, shape, edit, is_snippet=True)


def _types(place: Place) -> Iterator[tuple[str, Shape]]:
    for name in place.workspace.catalog.grader_types:
        shape = place.workspace.catalog.grader(name)
        if shape is not None:
            yield name, shape


def _item(name: str, shape: Shape, edit: Edit, *, is_snippet: bool) -> Completion:
    documentation = "\n\n".join([*notes(shape), shape.description])
    detail = f"grader: {shape.title}" if shape.title else "grader"
    rank = f"9{name}" if shape.deprecated else f"0~{usage_rank(GRADER_TYPES, name):03}{name}"
    return Completion(
        name, "grader", detail, documentation, rank, edit, is_snippet, deprecated=shape.deprecated
    )
