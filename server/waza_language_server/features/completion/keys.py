"""Keys of a mapping that are not written yet: needed ones first, then as suites use them, old ones last."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from waza_language_server.features.completion.item import Completion, Place
from waza_language_server.features.completion.snippets import grader_snippet, value_snippet
from waza_language_server.features.completion.values import PROVIDED_KINDS
from waza_language_server.features.hover.shape_text import notes, signature
from waza_language_server.schema.usage import section_of, usage_rank

if TYPE_CHECKING:
    from waza_language_server.schema.shape import Shape

_CHOSEN_FROM_LISTS = frozenset({"grader", "task.glob", *PROVIDED_KINDS})


def key_items(place: Place, holder: Shape, *, new_item: bool = False) -> Iterator[Completion]:
    """Yield the keys of a mapping; ``new_item`` says that they begin or continue an item of a list."""
    cursor = place.cursor
    written = set(cursor.existing_keys)
    excluded = _excluded(holder, written)
    section = section_of(place.document.kind, cursor.container_path, place.document.tree.root)
    for position, (name, known) in enumerate(holder.properties.items()):
        if name in written or name in excluded:
            continue
        shape = known.shape
        rank = _rank(holder, name, written, required=known.required)
        text = name + ("" if place.follows_colon else _value(place, holder, name, shape))
        if not place.quote and place.keys_are_quoted:
            text = f'"{name}"{text.removeprefix(name)}'
        if cursor.in_flow and not place.follows_colon:
            text = (
                f"{{{text}$1}}{place.comma}"
                if new_item
                else f"{text}$1{place.comma}"
                if place.comma
                else text
            )
        if new_item and cursor.needs_dash:
            text = "- " + text.replace("\n", "\n  ")
        edit = place.quoted_key(name) if place.quote else place.line(text)
        yield Completion(
            label=name,
            kind="key",
            detail=signature(name, shape),
            documentation="\n\n".join([*notes(shape), shape.description]),
            sort_text=f"{rank}{usage_rank(section, name):03}{position:03}",
            edit=edit,
            is_snippet="$1" in edit.text if place.quote else not place.follows_colon,
            deprecated=shape.deprecated,
            goes_on=_goes_on(shape) and not place.follows_colon,
        )


def _goes_on(shape: Shape) -> bool:
    """Return whether the first placeholder below a key has suggestions."""
    kinds = {each.kind for each in (shape, shape.branch("sequence").items) if each is not None}
    kinds |= {branch.kind for branch in shape.branches}
    items = shape.branch("sequence").items
    kinds |= {branch.kind for branch in items.branches} if items is not None else set()
    return not kinds.isdisjoint(_CHOSEN_FROM_LISTS)


def _value(place: Place, holder: Shape, name: str, shape: Shape) -> str:
    if place.cursor.in_flow:
        return ": "
    if shape.kind == "prompt.text" and place.document.kind == "trigger_tests":
        # The prompts of trigger tests are single sentences.
        return ": $1"
    if holder.kind == "grader" and name == "config" and holder.snippet:
        skipped = [key for key in holder.properties if key != "config"]
        sample = grader_snippet(holder.snippet, place.layout, without=skipped)
        if sample.startswith("config:"):
            # The sample's lines are indented as in an item; here they belong to the key itself.
            return sample.removeprefix("config").replace("\n  ", "\n")
    return ":" + value_snippet(shape, place.layout)


def _excluded(holder: Shape, written: set[str]) -> set[str]:
    """Return the keys that are exclusive with those that are written."""
    one = set(holder.exactly_one)
    return one if one & written else set()


def _rank(holder: Shape, name: str, written: set[str], *, required: bool) -> int:
    shape = holder.properties[name].shape
    if shape.deprecated:
        return 9
    if shape.inert:
        return 8
    if required:
        return 0
    advised = {one.key for one in holder.recommended} | set(holder.exactly_one)
    if written.isdisjoint(holder.at_least_one):
        advised.update(holder.at_least_one)
    return 1 if name in advised else 2
