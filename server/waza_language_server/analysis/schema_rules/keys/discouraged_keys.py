"""Known keys that have no effect next to others."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.schema_rules.subject import Subject
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.edits import delete_entry
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.edit import Fix


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
            message = f"`{key}` has no effect beside `{other}`: {rule.why.rstrip('.')}."
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
