"""Completion of keys, values, list items, graders and aliases, in every state of the text.

Keys come with their description and a snippet of their value, grader types with a whole minimal grader,
values from the schema and from the project around the file (graders, tasks, fixtures, models, tools,
skills), and names inside Python assertions.

Architecture invariant: only the item under the cursor is read, and nothing is awaited.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_engine.spec.reading.scalars import MERGE_KEY
from waza_language_server.features.completion.item import Completion, CompletionPoint
from waza_language_server.features.completion.metadata import metadata_keys, metadata_values
from waza_language_server.features.completion.snippets import (
    escaped,
    grader_snippet,
    json_item_snippet,
    json_snippet,
    value_snippet,
)
from waza_language_server.features.completion.values import PROVIDED_KINDS, SKILL_PATH, value_items
from waza_language_server.features.hover.model_prices import ModelPrices
from waza_language_server.features.hover.shape_text import notes, signature
from waza_language_server.project.claim import is_blank_text
from waza_language_server.project.skill_definitions import skills_of_workspace
from waza_language_server.schema.locate import shape_at, shape_below
from waza_language_server.schema.usage import GRADER_TYPES, section_of, usage_rank
from waza_language_server.syntax.aliases import anchors_of
from waza_language_server.syntax.cursor import cursor_at
from waza_language_server.syntax.nodes import value_at
from waza_language_server.text.edit import Edit
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.schema.shape import Shape
    from waza_language_server.syntax.nodes import Node

__all__ = ["Completion", "Completions", "complete"]

MAX_ITEMS = 200
_MARK = compiled_later(r"[*&!\[{|>%@`]")
"""The characters that begin something else than a word that could be completed."""
_COMMENT = compiled_later(r"[ \t]+#[^\r\n]*")
_LINE_MARK = compiled_later(r"(?:-{2,}|\.{2,})")
"""A document separator, or the beginning of one."""


@frozen()
class Completions:
    """The items, best first. ``incomplete`` makes the client request the list again after more typing."""

    items: tuple[Completion, ...] = ()
    incomplete: bool = False


def complete(
    document: Document, workspace: Workspace, offset: int, prices: ModelPrices | None = None
) -> Completions:
    """Return the completions at an offset of a document; ``prices`` lists the known models."""
    if not document.reads(offset):
        return Completions()
    cursor = cursor_at(document.tree, offset)
    if cursor.role == "none":
        return Completions()
    point = CompletionPoint(document, workspace, offset, cursor, prices)
    written = document.text[cursor.replace.start : cursor.replace.end]
    if point.touches_text or "\n" in written or "\r" in written:
        # Editors take completions within one line only.
        return Completions()
    if not point.quote and (_MARK.match(written) or (cursor.role == "key" and _LINE_MARK.match(written))):
        return _capped(point, anchor_items(point) if written.startswith("*") else ())
    holder = shape_at(document.kind, cursor.container_path, document.tree.root, workspace.catalog)
    if holder is None:
        return Completions()
    if cursor.role == "key" and holder.fits("sequence") and not holder.fits("mapping"):
        # A list is expected where nothing is written yet: its first item needs a dash.
        cursor = replace(cursor, role="item", needs_dash=True)
        point = replace(point, cursor=cursor)
    if _names_skill(point, holder):
        with workspace.project.disk.cached_lookups():
            point = replace(point, skills=skills_of_workspace(workspace.project, document))
    if cursor.role == "key" and document.tree.is_json and is_blank_text(document.text):
        items = [_new_object(point, holder.branch("mapping"))]
    elif cursor.role == "key":
        items = _keys(point, holder)
    elif cursor.role == "value":
        items = _values(point, holder, cursor.key or "")
    else:
        items = _list_items(point, holder)
    return _capped(point, items)


def _names_skill(point: CompletionPoint, holder: Shape) -> bool:
    """Return whether the value at the cursor is the name of a skill, or the path of one."""
    cursor = point.cursor
    if cursor.role == "key":
        return False
    shape = (
        shape_below(holder, cursor.key or "") if cursor.role == "value" else holder.branch("sequence").items
    )
    shapes = (shape, *shape.branches) if shape is not None else ()
    return cursor.key == SKILL_PATH or any(each.kind == "skill.name" for each in shapes)


def _keys(point: CompletionPoint, holder: Shape) -> list[Completion]:
    items = list(key_items(point, holder.branch("mapping", frozenset(point.cursor.existing_keys))))
    if point.is_metadata:
        items += metadata_keys(point)
    if holder.kind == "grader" and not {"type", "ref"} & set(point.cursor.existing_keys):
        items += grader_items(point)
    text, written = point.document.text, point.cursor.replace
    if is_blank_text(text[: written.start] + text[written.end :]):
        items += _suites(point)
    return items


def _suites(point: CompletionPoint) -> Iterable[Completion]:
    # With the first empty file.
    from waza_language_server.features.new_suite import NEW_SUITE, suite_offers

    for number, offer in enumerate(suite_offers(point.document, point.workspace)):
        about = "Tasks, trigger tests and graders drafted from its `SKILL.md`; the executor is `mock`."
        yield Completion(
            label=offer.title,
            kind="reference",
            detail="",
            documentation=about,
            sort_text=f"!{number:03}",
            edit=Edit(point.cursor.replace, ""),
            command=(NEW_SUITE, offer.argument),
        )


def _values(point: CompletionPoint, holder: Shape, key: str) -> list[Completion]:
    if key == MERGE_KEY:
        return list(anchor_items(point))
    if point.is_metadata:
        return list(metadata_values(point, key))
    shape = shape_below(holder, key)
    if shape is None:
        return []
    if shape.kind == "grader.type" or (holder.kind == "grader" and key == "type"):
        return list(grader_type_items(point))
    if holder.kind == "grader" and key == "name":
        # A grader's own name is new by definition.
        return []
    return list(value_items(point, shape, key))


def _list_items(point: CompletionPoint, holder: Shape) -> list[Completion]:
    shape = holder.branch("sequence").items
    if shape is None:
        return []
    items: list[Completion] = []
    branches = shape.branches or (shape,)
    existing = frozenset(point.cursor.existing_keys)
    if point.quote or point.has_properties:
        # In quotes an item is a string; after an anchor, a mapping would give the anchor to its first key.
        return list(value_items(point, shape.branch("scalar"), point.cursor.key or ""))
    if any(branch.kind == "grader" for branch in branches):
        if not existing & {"type", "ref"}:
            items += grader_items(point)
        items += key_items(point, _entry_shape(point), new_item=True)
    elif (block := shape.branch("mapping", existing)).required and point.document.tree.is_json:
        items.append(_new_object(point, block))
    elif any(branch.fits("mapping") and branch.properties for branch in branches):
        items += key_items(point, shape.branch("mapping", existing), new_item=True)
    if any(branch.fits("scalar") and branch.kind != "grader" for branch in branches) and not existing:
        items += value_items(point, shape.branch("scalar"), point.cursor.key or "")
    return items


def _new_object(point: CompletionPoint, shape: Shape) -> Completion:
    """Return the completion of an item with all the keys that it needs."""
    edit = point.line(json_item_snippet(shape) + point.comma)
    keys = ", ".join(dict.fromkeys((*shape.required, *shape.at_least_one[:1])))
    return Completion(f"{{{keys}}}", "value", "", shape.description, "0", edit, is_snippet=True)


def _entry_shape(point: CompletionPoint) -> Shape:
    node = point.cursor.node
    written = value_at(node, "type") if node is not None and node.kind == "mapping" else None
    catalog = point.workspace.catalog.of(point.document.kind)
    known = catalog.grader(written.target.value) if written is not None else None
    if not catalog.of_vally and node is not None and node.get("ref") is not None:
        return catalog.packaged_grader_root.top
    return known or catalog.any_grader


def _before_comment(point: CompletionPoint, item: Completion) -> Completion:
    """Return an item of several lines with the comment of its line, which stays on the first line."""
    comment = _COMMENT.match(point.text, item.edit.span.end)
    if comment is None or "\n" not in item.edit.text:
        return item
    head = item.edit.text.partition("\n")[0].rstrip()
    written = escaped(comment[0]) if item.is_snippet else comment[0]
    span = Span(item.edit.span.start, comment.end())
    return replace(item, edit=Edit(span, head + written + item.edit.text[len(head) :]))


def _capped(point: CompletionPoint, items: Iterable[Completion]) -> Completions:
    unique: dict[str, Completion] = {}
    for item in items:
        unique.setdefault(item.label, _before_comment(point, item))
    found: Sequence[Completion] = sorted(unique.values(), key=lambda item: item.sort_text)
    if len(found) <= MAX_ITEMS:
        return Completions(tuple(found), point.is_incomplete)
    typed = point.cursor.prefix.strip("\"'").lower()
    fitting = [item for item in found if typed in (item.filter_text or item.label).lower()]
    fitting.sort(key=lambda item: not (item.filter_text or item.label).lower().startswith(typed))
    kept = (fitting or found)[:MAX_ITEMS]
    return Completions(tuple(kept), incomplete=True)


def anchor_items(point: CompletionPoint) -> Iterator[Completion]:
    """Yield the aliases of nodes that end before the cursor; below a merge key only those of mappings."""
    root = point.document.tree.root
    if root is None:
        return
    merges = point.cursor.key == MERGE_KEY
    for name, path in anchors_of(root.green).items():
        node: Node | None = root
        for step in path:
            node = node.nth_child(step) if node is not None else None
        if node is None or node.span.end > point.offset or (merges and node.kind != "mapping"):
            continue
        alias = f"*{name}"
        yield Completion(alias, "reference", node.kind, "", f"1{name}", point.raw(alias), filter_text=alias)


def grader_type_items(point: CompletionPoint) -> Iterator[Completion]:
    """Yield the grader types as values; where the entry has no options yet, they come along."""
    existing = set(point.cursor.existing_keys) - {"type"}
    for name, shape in _types(point):
        options = ""
        if shape.snippet and "config" not in existing and not point.cursor.in_flow and not point.quote:
            skipped = ("type", *existing)
            options = grader_snippet(shape.snippet, point.layout, without=skipped).replace("\n  ", "\n")
        edit = point.line(f"{name}\n{options}") if options else point.value(name)
        yield _item(name, shape, edit, is_snippet=bool(options))


def grader_items(point: CompletionPoint) -> Iterator[Completion]:
    """Yield a whole new grader of each type."""
    if point.cursor.in_flow or point.follows_colon:
        return
    kept = tuple(point.cursor.existing_keys)
    for name, shape in _types(point):
        text = grader_snippet(shape.snippet or f"- type: {name}", point.layout, without=kept)
        text = text if point.cursor.needs_dash else text.replace("\n  ", "\n")
        edit = point.line(f"- {text}" if point.cursor.needs_dash else text)
        yield _item(name, shape, edit, is_snippet=True)


def _types(point: CompletionPoint) -> Iterator[tuple[str, Shape]]:
    catalog = point.workspace.catalog.of(point.document.kind)
    for name in catalog.grader_types:
        shape = catalog.grader(name)
        if shape is not None:
            yield name, shape


def _item(name: str, shape: Shape, edit: Edit, *, is_snippet: bool) -> Completion:
    documentation = "\n\n".join([*notes(shape), shape.description])
    detail = f"grader: {shape.title}" if shape.title else "grader"
    rank = f"9{name}" if shape.deprecated else f"0~{usage_rank(GRADER_TYPES, name):03}{name}"
    return Completion(
        name, "grader", detail, documentation, rank, edit, is_snippet, deprecated=shape.deprecated
    )


_CHOSEN_FROM_LISTS = frozenset({"grader", "task.glob", *PROVIDED_KINDS})


def key_items(point: CompletionPoint, holder: Shape, *, new_item: bool = False) -> Iterator[Completion]:
    """Yield the keys of a mapping; ``new_item`` says that they begin or continue an item of a list."""
    cursor = point.cursor
    written = set(cursor.existing_keys)
    excluded = _excluded(holder, written)
    section = section_of(point.document.kind, cursor.container_path, point.document.tree.root)
    for position, (name, known) in enumerate(holder.properties.items()):
        if name in written or name in excluded:
            continue
        shape = known.shape
        rank = _rank(holder, name, written, required=known.required)
        text = name + ("" if point.follows_colon else _value(point, holder, name, shape))
        if not point.quote and point.keys_are_quoted:
            text = f'"{name}"{text.removeprefix(name)}'
        is_json = point.document.tree.is_json
        value = json_snippet(shape) if is_json else ""
        if is_json and not point.follows_colon:
            text = f'"{name}": {value}'
            text = (f"{{{text}}}" if new_item else text) + point.comma
        elif cursor.in_flow and not point.follows_colon:
            text = (
                f"{{{text}$1}}{point.comma}"
                if new_item
                else f"{text}$1{point.comma}"
                if point.comma
                else text
            )
        if new_item and cursor.needs_dash:
            text = "- " + text.replace("\n", "\n  ")
        edit = point.quoted_key(name, value) if point.quote else point.line(text)
        yield Completion(
            label=name,
            kind="key",
            detail=signature(name, shape),
            documentation="\n\n".join([*notes(shape), shape.description]),
            sort_text=f"{rank}{usage_rank(section, name):03}{position:03}",
            edit=edit,
            is_snippet="$1" in edit.text if point.quote else not point.follows_colon,
            deprecated=shape.deprecated,
            suggests_more=_suggests_more(shape) and not point.follows_colon,
        )


def _suggests_more(shape: Shape) -> bool:
    """Return whether the first placeholder below a key has suggestions."""
    kinds = {each.kind for each in (shape, shape.branch("sequence").items) if each is not None}
    kinds |= {branch.kind for branch in shape.branches}
    items = shape.branch("sequence").items
    kinds |= {branch.kind for branch in items.branches} if items is not None else set()
    return not kinds.isdisjoint(_CHOSEN_FROM_LISTS)


def _value(point: CompletionPoint, holder: Shape, name: str, shape: Shape) -> str:
    if point.cursor.in_flow:
        return ": "
    if shape.kind == "prompt.text" and point.document.kind == "trigger_tests":
        # The prompts of trigger tests are single sentences.
        return ": $1"
    if holder.kind == "grader" and name == "config" and holder.snippet:
        skipped = [key for key in holder.properties if key != "config"]
        sample = grader_snippet(holder.snippet, point.layout, without=skipped)
        if sample.startswith("config:"):
            # The sample's lines are indented as in an item; here they belong to the key itself.
            return sample.removeprefix("config").replace("\n  ", "\n")
    return ":" + value_snippet(shape, point.layout)


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
