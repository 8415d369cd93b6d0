"""Keys and grader types that still work and should not be written: deprecated, or without effect."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.schema_rules.conversions import conversions
from waza_language_server.analysis.schema_rules.grader_types import current_types
from waza_language_server.analysis.schema_rules.subject import Subject
from waza_language_server.schema.locate import grader_type, type_node
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.edits import delete_entry, move_entry_into
from waza_language_server.syntax.nodes import Entry, Node
from waza_language_server.text.edit import Edit, Fix


def discouraged_keys(subject: Subject, mapping: Node, shape: Shape) -> Iterator[Problem]:
    """Yield the keys that have no effect because of another key, with a fix that deletes them.

    A key without a value counts as absent; one that is empty, ``0`` or ``false`` does not count as the other.
    """
    for rule in shape.discouraged:
        other = next((key for key in rule.beside if _says_something(mapping.get(key))), None)
        for key in rule.keys if other is not None else ():
            entry = mapping.entry(key)
            if entry is None or entry.value.to_python() is None:
                continue
            message = f"`{key}` has no effect next to `{other}`: {rule.why.rstrip('.')}."
            fix = Fix(f"Delete `{key}`", partial(delete_entry, subject.tree, entry))
            span = entry.key.span
            yield Problem("key-without-effect", span, message, rule.severity, (fix,), tag="unnecessary")


def _says_something(value: Node | None) -> bool:
    if value is None:
        return False
    node = value.target
    if node.kind != "scalar":
        return bool(node.items or node.entries)
    return bool(node.to_python())


def deprecated_type(subject: Subject, shape: Shape) -> Iterator[Problem]:
    """Yield the hint that the grader's type has a successor."""
    node = type_node(subject.node) if shape.deprecated and not shape.versions else None
    if node is None:
        return
    successor = f"; write `{shape.replaced_by}` instead" if shape.replaced_by else ""
    message = f"The grader type `{node.value}` is deprecated: upstream no longer runs it{successor}."
    if shape.deprecation:
        message = f"The grader type `{node.value}` is deprecated: {shape.deprecation}"
    fixes = tuple(conversions(subject, node))
    yield Problem("deprecated-grader-type", node.span, message, "information", fixes, tag="deprecated")


def deprecated_keys(subject: Subject, mapping: Node, shape: Shape) -> Iterator[Problem]:
    """Yield the keys of a mapping that have a successor."""
    for known in shape.deprecated_keys:
        entry = mapping.entry(known.name)
        if entry is not None and known.shape.kind != "grader.type":
            problem = _deprecated_key(subject, mapping, shape, entry, known.shape)
            if problem is not None:
                yield problem


def _deprecated_key(
    subject: Subject, mapping: Node, shape: Shape, entry: Entry, key: Shape
) -> Problem | None:
    name = entry.key.value
    config = shape.properties.get("config") if subject.is_grader else None
    if config is not None and name in config.shape.branch("mapping").properties:
        return _next_to_type(subject, mapping, entry) if _is_run_by_upstream(subject) else None
    successor = key.replaced_by
    advice = f"; write `{successor}`" if successor else " and can be deleted"
    fixes: tuple[Fix, ...] = ()
    if successor and mapping.entry(successor) is None and successor in shape.properties:
        fixes = (Fix(f"Change to `{successor}`", (Edit(entry.key.span, successor),), preferred=True),)
    message = f"`{name}` is deprecated{advice}."
    return Problem("deprecated-key", entry.key.span, message, "information", fixes, tag="deprecated")


def _is_run_by_upstream(subject: Subject) -> bool:
    """Return whether upstream may read the options of a grader: it does not run the older types."""
    written = grader_type(subject.node)
    return written is None or written in current_types(subject.catalog)


def _next_to_type(subject: Subject, mapping: Node, entry: Entry) -> Problem:
    """Return the problem of an option next to ``type``: upstream rejects assertions there, ignores others."""
    name = entry.key.value
    config = mapping.get("config")
    given = config is not None and config.target.get(name) is not None
    moved = partial(move_entry_into, subject.tree, entry, mapping, "config")
    fixes = () if given else (Fix("Move under `config`", moved),)
    message = f"`{name}` next to `type` is ignored by upstream; it belongs under `config`."
    if name == "assertions" and not given:
        message = "`assertions` belong under `config`; upstream refuses a grader with them next to `type`."
    return Problem("misplaced-key", entry.key.span, message, "warning", fixes)
