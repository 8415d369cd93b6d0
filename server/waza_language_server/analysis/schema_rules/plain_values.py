"""The plain value of a node for the validator, as upstream's decoder reads it.

``Node.to_python`` returns the value as written; this module also follows merge keys (``<<: *anchor``) and
removes grader entries from a document, because each of them is validated by its own type.
"""

from __future__ import annotations

from waza_engine.spec.reading.scalars import MERGE_KEY, Json
from waza_language_server.schema.locate import shape_below
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.nodes import Node

_DEEPEST = 100


def document_value(node: Node, shape: Shape) -> Json:
    """Return the value of a document with empty mappings as grader entries."""
    return _without_graders(node, shape, _DEEPEST)


def entry_value(node: Node) -> Json:
    """Return the value of a grader entry."""
    return merged(node.to_python(), _DEEPEST)


def merged(value: Json, depth: int) -> Json:
    """Return the value with merge keys resolved; explicit keys win."""
    if depth <= 0:
        return None
    if isinstance(value, list):
        return [merged(item, depth - 1) for item in value]
    if not isinstance(value, dict):
        return value
    if MERGE_KEY not in value:
        return {key: merged(item, depth - 1) for key, item in value.items()}
    result: dict[str, Json] = {}
    sources = value[MERGE_KEY] if isinstance(value[MERGE_KEY], list) else [value[MERGE_KEY]]
    for source in reversed(sources if isinstance(sources, list) else []):
        followed = merged(source, depth - 1)
        if isinstance(followed, dict):
            result.update(followed)
    result.update({key: merged(item, depth - 1) for key, item in value.items() if key != MERGE_KEY})
    return result


def _without_graders(node: Node, shape: Shape, depth: int) -> Json:
    if node.kind == "mapping":
        if shape.branch("mapping").kind == "grader":
            return {}
        if node.entry(MERGE_KEY) is not None or depth <= 0:
            return merged(node.to_python(), depth)
        return _entries_without_graders(node, shape, depth)
    if node.kind == "sequence" and depth > 0 and (items := shape.branch("sequence").items) is not None:
        return [_without_graders(item, items, depth - 1) for item in node.each_item()]
    return merged(node.to_python(), depth)


def _entries_without_graders(node: Node, shape: Shape, depth: int) -> Json:
    result: dict[str, Json] = {}
    for entry in node.each_entry():
        if entry.key.value in result:
            # A path leads to the first of two equal keys, so that one is validated.
            continue
        below = shape_below(shape, entry.key.value)
        if below is None or entry.value.kind == "scalar":
            result[entry.key.value] = entry.value.to_python()
        else:
            result[entry.key.value] = _without_graders(entry.value, below, depth - 1)
    return result
