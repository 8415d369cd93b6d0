"""The JSON Schema of a `json_schema` grader: its keywords, their values, its references."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice
from urllib.parse import unquote

from waza_engine.files import printable
from waza_engine.spec.json_schema_dialects import draft_of
from waza_engine.spelling import listed, nearest, typo_of
from waza_language_server.analysis.problem import Problem, suggestion
from waza_language_server.analysis.rule import GraderView
from waza_language_server.analysis.value_rules.inside_values import problem_inside
from waza_language_server.embedded.languages import load_language
from waza_language_server.syntax.edits import replace_scalar
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.tree import Tree
from waza_language_server.text.edit import Edit, Fix

_OTHER_TYPES = {
    **dict.fromkeys(("str", "text"), "string"),
    "int": "integer",
    **dict.fromkeys(("float", "double", "decimal"), "number"),
    "bool": "boolean",
    **dict.fromkeys(("list", "tuple"), "array"),
    **dict.fromkeys(("dict", "map", "mapping"), "object"),
    "none": "null",
}
"""Names of types in programming languages."""
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
_KNOWN = frozenset(
    {
        "$anchor",
        "$comment",
        "$dynamicAnchor",
        "$dynamicRef",
        "$id",
        "$recursiveAnchor",
        "$recursiveRef",
        "$ref",
    }
    | {"$schema", "$vocabulary", "additionalItems", "const", "contentEncoding", "contentMediaType"}
    | {"contentSchema", "default", "dependencies", "dependentRequired", "deprecated", "description", "enum"}
    | {"example", "examples", "format", "id", "maxContains", "nullable", "pattern", "readOnly", "required"}
    | {"title", "type", "unevaluatedItems", "unevaluatedProperties", "uniqueItems", "writeOnly"}
    | _OF_SCHEMAS
    | _SCHEMA
    | _LISTS
    | _NUMBERS
    | _COUNTS
)
"""Keywords of all drafts, and a few of other tools; any other word is allowed and means nothing."""
_DIALECTS = (
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-03/schema#",
)
_ALIKE = frozenset({"2020-12", "2019-09", "7", "6"})
"""Drafts in which the checked keywords mean the same."""
_DEEPEST = 40
_MOST_REPORTED = 20


def json_schemas(view: GraderView) -> Iterator[Problem]:
    """Yield the problems that make the schema of a grader invalid."""
    schema = view.entry.get("config", "schema")
    if schema is None or schema.target.kind != "mapping":
        return
    tree, dialect = view.file.tree, schema.target.get("$schema")
    if dialect is not None and (dialect.kind != "scalar" or draft_of(dialect.value) not in _ALIKE):
        yield from _of_dialect(tree, dialect)
        return
    yield from islice(_in_schema(tree, schema.target, schema.target, _DEEPEST), _MOST_REPORTED)


def _of_dialect(tree: Tree, node: Node) -> Iterator[Problem]:
    if node.kind != "scalar" or draft_of(node.value) is not None:
        return
    intended, fixes = suggestion(tree, node, _DIALECTS)
    advice = f"; did you mean `{intended}`?" if intended else f", as `{_DIALECTS[0]}` is."
    message = f"`{printable(node.value)}` is not a known dialect of JSON Schema{advice}"
    yield Problem("value-not-allowed", node.span, message, "error", fixes)


def _in_schema(tree: Tree, schema: Node, top: Node, depth: int) -> Iterator[Problem]:
    if schema.kind != "mapping" or not depth:
        return
    for key in dict.fromkeys(schema.key_names):
        found = schema.get(key)
        if found is None or found.target is not found:
            # The target of an alias is checked where it is written.
            continue
        if key == "type":
            yield from _of_type(tree, found)
        elif key in _NUMBERS or key in _COUNTS:
            yield from _of_number(key, found)
        elif key == "required" and found.kind != "sequence":
            message = "`required` of a JSON Schema must be a list of the names that are needed."
            yield Problem("wrong-type", found.span, message, "error")
        elif key == "enum" and found.kind != "sequence":
            message = "`enum` of a JSON Schema must be a list of the values that are allowed."
            yield Problem("wrong-type", found.span, message, "error")
        elif key == "$ref":
            yield from _of_reference(tree, top, found)
        elif key == "pattern":
            yield from _of_pattern(tree, found)
        elif key not in _KNOWN:
            yield from _of_unknown_word(schema, key)
        else:
            for below in _schemas_below(key, found):
                yield from _in_schema(tree, below, top, depth - 1)


def _of_pattern(tree: Tree, node: Node) -> Iterator[Problem]:
    if node.kind != "scalar":
        return
    for finding in load_language("regex").check(node.value).findings:
        if finding.code == "invalid-pattern":
            yield problem_inside(tree, node, finding, "error")


def _of_unknown_word(schema: Node, key: str) -> Iterator[Problem]:
    entry, intended = schema.entry(key), typo_of(key, _KNOWN)
    if entry is None or intended is None or schema.entry(intended) is not None or entry.key.style != "plain":
        return
    what = f"`{printable(key)}` is not a keyword of JSON Schema, so it checks nothing"
    message = f"{what}; did you mean `{intended}`?"
    fix = Fix(f"Change to `{intended}`", (Edit(entry.key.span, intended),), preferred=True)
    yield Problem("unknown-key", entry.key.span, message, "warning", (fix,))


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
            message = "The type `null` of a JSON Schema must be a string; write it in quotes."
            fix = Fix("Write `'null'`", partial(replace_scalar, tree, each, "null"), preferred=True)
            yield Problem("value-not-allowed", each.span, message, "error", (fix,))
            continue
        if each.value in _TYPES:
            continue
        intended, fixes = suggestion(tree, each, _TYPES, _OTHER_TYPES.get(each.value.lower()))
        advice = f"; did you mean `{intended}`?" if intended else f"; it must be {listed(_TYPES)}."
        message = f"A JSON Schema has no type `{printable(each.value)}`{advice}"
        yield Problem("value-not-allowed", each.span, message, "error", fixes)


def _of_number(key: str, node: Node) -> Iterator[Problem]:
    value = node.to_python() if node.kind == "scalar" else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        yield Problem("wrong-type", node.span, f"`{key}` of a JSON Schema must be a number.", "error")
    elif key in _COUNTS and (value < 0 or value != int(value)):
        message = f"`{key}` of a JSON Schema must be a whole number from 0 on."
        yield Problem("out-of-range", node.span, message, "error")


def _of_reference(tree: Tree, schema: Node, node: Node) -> Iterator[Problem]:
    """Yield the problem of a ``$ref`` to a part that the schema does not have."""
    written = node.value if node.kind == "scalar" else ""
    # Below an identifier of its own a reference has another base.
    if not written.startswith("#/") or "$id" in tree.text[schema.span.start : schema.span.end]:
        return
    parts, found = written.split("/")[1:], schema
    for at, part in enumerate(parts):
        step = unquote(part).replace("~1", "/").replace("~0", "~")
        is_index = found.kind == "sequence" and step.isascii() and step.isdigit()
        below = found.get(int(step) if is_index else step)
        if below is None:
            name = nearest(step, found.key_names) or ""
            escaped = name.replace("~", "~0").replace("/", "~1")
            likely = ["/".join(("#", *parts[:at], escaped, *parts[at + 1 :]))] if name else []
            intended, fixes = suggestion(tree, node, likely)
            advice = f"; did you mean `{printable(intended)}`?" if intended else "."
            message = f"`{printable(written)}` leads nowhere in this schema{advice}"
            yield Problem("value-not-allowed", node.span, message, "error", fixes)
            return
        found = below.target
