"""Pydantic's JSON Schema in a form for people and editors.

Blocks are inlined where they are used (no references to follow), a value that may be left empty is one schema
with a list of types, limits have their standard names, and keys come in a fixed order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

Schema = dict[str, Any]
Replace = Callable[[str], Schema | None]

_ONE = ("additionalProperties", "items", "not", "if", "then", "else", "propertyNames", "contains")
_SEVERAL = ("anyOf", "oneOf", "allOf", "prefixItems")
_BY_KEY = ("properties", "patternProperties")
_LIMITS = {"ge": "minimum", "le": "maximum", "gt": "exclusiveMinimum", "lt": "exclusiveMaximum"}
_FIRST = ("$schema", "$id", "title", "description", "type", "const", "enum", "default", "deprecated")
_LAST = (
    "properties",
    "items",
    "additionalProperties",
    "required",
    "anyOf",
    "oneOf",
    "allOf",
    "examples",
    "$defs",
)


def tidied(schema: Mapping[str, Any], replace: Replace = lambda _name: None) -> Schema:
    """Return a schema without ``$defs``. ``replace`` may give another schema for a model by its name."""
    definitions = cast("Mapping[str, Schema]", schema.get("$defs", {}))
    return _Tidying(definitions, replace).of({key: value for key, value in schema.items() if key != "$defs"})


class _Tidying:
    def __init__(self, definitions: Mapping[str, Schema], replace: Replace) -> None:
        self._definitions = definitions
        self._replace = replace

    def of(self, schema: Mapping[str, Any]) -> Schema:
        result = self._resolved(schema)
        result.pop("title", None)
        for keyword in _ONE:
            if isinstance(result.get(keyword), dict):
                result[keyword] = self.of(result[keyword])
        for keyword in _SEVERAL:
            if keyword in result:
                result[keyword] = [self.of(branch) for branch in result[keyword]]
        for keyword in _BY_KEY:
            if keyword in result:
                result[keyword] = {key: self.of(value) for key, value in result[keyword].items()}
        return ordered(_guarded(_nullable(_standard(result))))

    def _resolved(self, schema: Mapping[str, Any]) -> Schema:
        """Replace a reference by its definition; keys next to the reference win."""
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        reference = schema.get("$ref")
        name = str(reference).rpartition("/")[2]
        if name not in self._definitions:
            return dict(schema)
        replaced = self._replace(name)
        return {**(self._resolved(self._definitions[name]) if replaced is None else replaced), **beside}


def ordered(schema: Schema) -> Schema:
    """Return the schema with its keywords in order: the value's type, then its rules, then its parts."""

    def rank(keyword: str) -> tuple[int, int, str]:
        if keyword in _FIRST:
            return 0, _FIRST.index(keyword), keyword
        if keyword in _LAST:
            return 2, _LAST.index(keyword), keyword
        return 1, 0, keyword

    return {keyword: schema[keyword] for keyword in sorted(schema, key=rank)}


def _standard(schema: Schema) -> Schema:
    for limit, keyword in _LIMITS.items():
        if limit in schema:
            schema[keyword] = schema.pop(limit)
    if "array" in _types(schema):
        for length, keyword in (("minLength", "minItems"), ("maxLength", "maxItems")):
            if length in schema:
                schema[keyword] = schema.pop(length)
    if schema.get("default", ...) in ("", [], {}):
        del schema["default"]
    return schema


def _nullable(schema: Schema) -> Schema:
    if not schema.pop("x-waza-nullable", False) or "null" in _types(schema):
        return schema
    if "type" not in schema:
        # The first alternative may be left empty.
        first, *others = cast("list[Schema]", schema.get("anyOf") or [{}])
        if "type" in first:
            schema["anyOf"] = [{**first, "type": [*_types(first), "null"]}, *others]
        return schema
    schema["type"] = [*_types(schema), "null"]
    if "enum" in schema:
        schema["enum"] = [*schema["enum"], None]
    return schema


def _guarded(schema: Schema) -> Schema:
    """Apply a forbidden combination of keys to blocks only: every rule over keys holds for null."""
    for rule in schema.get("allOf", ()):
        if "not" in rule and "type" not in rule["not"]:
            rule["not"] = {"type": "object", **rule["not"]}
    return schema


def _types(schema: Mapping[str, Any]) -> list[str]:
    types = schema.get("type", [])
    return [types] if isinstance(types, str) else list(types)
