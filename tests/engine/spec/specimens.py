"""Documents made from a schema: a smallest valid one, and one per way to get a single key right or wrong."""

import itertools
from collections.abc import Iterator
from typing import Any

Schema = dict[str, Any]

VALUES: tuple[Any, ...] = (
    *("text", "", " ", "yes", "../up", "/root", 0, 1, -1, 2, 1.0, 1.5, True, False, None),
    *(
        [],
        {},
        ["text"],
        [1, True],
        [None],
        [{}],
        [[]],
        {"key": "text"},
        {"key": {}},
        [1, 10],
        [10, 1],
        [0, 0],
    ),
)


def smallest(schema: Schema) -> Any:
    """Return a valid value with as little in it as possible."""
    if "const" in schema:
        return schema["const"]
    if schema.get("x-waza-kind") == "grader" and "oneOf" in schema:
        return {"type": "text", "name": "a", "config": {"contains": ["a"]}}
    types = _types(schema)
    if "object" in types:
        keys = list(schema.get("required", []))
        keys += schema.get("x-waza-at-least-one", [])[:1] + schema.get("x-waza-exactly-one", [])[:1]
        for rule in schema.get("allOf", []):
            keys += rule.get("else", {}).get("required", [])
        return {key: _filled(schema["properties"][key]) for key in dict.fromkeys(keys)}
    return _filled(schema)


def variants(schema: Schema) -> Iterator[Any]:
    """Yield values, valid and not: every key missing, of every type, out of range, unknown, in pairs."""
    yield from VALUES
    yield from schema.get("enum", [])
    for limit in ("minimum", "maximum", "exclusiveMinimum"):
        if limit in schema:
            yield from (schema[limit] - 1, schema[limit], schema[limit] + 1)
    for branch in schema.get("anyOf", []):
        if "type" in branch:
            yield from variants(branch)
    if "items" in schema:
        for item in variants(schema["items"]):
            yield [item]
        yield [smallest(schema["items"])] * 2
    if schema.get("properties"):
        yield from _blocks(schema)
    elif isinstance(schema.get("additionalProperties"), dict):
        for item in variants(schema["additionalProperties"]):
            yield {"key": item}


def _blocks(schema: Schema) -> Iterator[Any]:
    block = smallest(schema)
    yield block
    yield {**block, "no_such_key": 1}
    for key in block:
        yield {name: value for name, value in block.items() if name != key}
    for key, value_schema in schema["properties"].items():
        for value in variants(value_schema):
            yield {**block, key: value}
            yield {key: value}
    good = {key: _filled(value) for key, value in schema["properties"].items()}
    for one, other in itertools.combinations(good, 2):
        yield {**block, one: good[one], other: good[other]}
    yield good


def _filled(schema: Schema) -> Any:
    """Return a value that really says something."""
    if schema.get("examples"):
        return schema["examples"][0]
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    types = _types(schema)
    if "object" in types:
        return smallest(schema) or {}
    if "array" in types:
        return [smallest(schema["items"])]
    if "string" in types:
        return "text"
    if "boolean" in types:
        return True
    if "integer" in types or "number" in types:
        return max(1, schema.get("minimum", 1))
    for branch in schema.get("anyOf", []):
        return _filled(branch)
    return "text"


def _types(schema: Schema) -> list[str]:
    types = schema.get("type", [])
    return [types] if isinstance(types, str) else types
