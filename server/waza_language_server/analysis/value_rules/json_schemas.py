"""JSON Schemas written in a grader that are none: a type that does not exist, a limit that is no number.

The engine refuses such a schema, so the grader grades nothing. Only what every dialect of today says alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from waza_engine.files import shown
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import GraderView
from waza_language_server.schema.locate import grader_type
from waza_language_server.spelling import listed, nearest, slip_of
from waza_language_server.syntax.edits import replace_scalar
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.tree import Tree
from waza_language_server.text.edit import Fix

_TYPES = ("string", "number", "integer", "boolean", "object", "array", "null")
_OF_SCHEMAS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_SCHEMA = frozenset(
    {"additionalProperties", "contains", "not", "if", "then", "else", "propertyNames", "items"}
)
_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_NUMBERS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
_COUNTS = frozenset(
    {"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains"}
)
_DEEPEST = 40
_MOST_TOLD = 20


def json_schemas(view: GraderView) -> Iterator[Problem]:
    """Yield what makes the schema of a grader none."""
    schema = view.entry.get("config", "schema") if grader_type(view.entry) == "json_schema" else None
    if schema is None or schema.target.kind != "mapping" or schema.get("$schema") is not None:
        return
    for count, problem in enumerate(_in_schema(view.file.tree, schema.target, _DEEPEST)):
        if count == _MOST_TOLD:
            return
        yield problem


def _in_schema(tree: Tree, schema: Node, depth: int) -> Iterator[Problem]:
    if schema.kind != "mapping" or not depth:
        return
    for key in dict.fromkeys(schema.key_names):
        found = schema.get(key)
        if found is None or found.target is not found:
            # What an alias stands for is looked at where it is written.
            continue
        if key == "type":
            yield from _of_type(tree, found)
        elif key in _NUMBERS or key in _COUNTS:
            yield from _of_number(key, found)
        elif key == "required" and found.kind != "sequence":
            message = "`required` of a JSON Schema must be a list of the names that are needed."
            yield Problem("wrong-type", found.span, message, "error")
        else:
            for below in _schemas_below(key, found):
                yield from _in_schema(tree, below, depth - 1)


def _schemas_below(key: str, node: Node) -> Iterator[Node]:
    if key in _OF_SCHEMAS and node.kind == "mapping":
        named = (node.get(name) for name in dict.fromkeys(node.key_names))
        yield from (each for each in named if each is not None)
    elif key in _SCHEMA:
        yield node
    elif key in _LISTS and node.kind == "sequence":
        yield from node.each_item()


def _of_type(tree: Tree, node: Node) -> Iterator[Problem]:
    for each in node.each_item() if node.kind == "sequence" else (node,):
        if each.kind != "scalar":
            continue
        if each.to_python() is None:
            message = "The type `null` of a JSON Schema is a text here; write it in quotes."
            fix = Fix("Write `'null'`", partial(replace_scalar, tree, each, "null"), preferred=True)
            yield Problem("value-not-allowed", each.span, message, "error", (fix,))
            continue
        if each.value in _TYPES:
            continue
        meant = nearest(each.value, _TYPES)
        advice = f"; did you mean `{meant}`?" if meant else f"; it must be {listed(_TYPES)}."
        fixes: tuple[Fix, ...] = ()
        if meant is not None:
            preferred = slip_of(each.value, _TYPES) == meant
            repair = partial(replace_scalar, tree, each, meant)
            fixes = (Fix(f"Change to `{meant}`", repair, preferred=preferred),)
        message = f"A JSON Schema has no type `{shown(each.value)}`{advice}"
        yield Problem("value-not-allowed", each.span, message, "error", fixes)


def _of_number(key: str, node: Node) -> Iterator[Problem]:
    value = node.to_python() if node.kind == "scalar" else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        yield Problem("wrong-type", node.span, f"`{key}` of a JSON Schema must be a number.", "error")
    elif key in _COUNTS and (value < 0 or value != int(value)):
        message = f"`{key}` of a JSON Schema must be a whole number from 0 on."
        yield Problem("out-of-range", node.span, message, "error")
