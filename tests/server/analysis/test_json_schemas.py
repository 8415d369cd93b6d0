"""JSON Schemas in graders: what the engine refuses is marked, and nothing that it takes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.server.analysis.drawing import fixed, graders, problems
from waza_engine.graders.matching.json_schemas import SchemaError, compile_schema

REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"type": "objct"}, '"objct"'),
    ({"type": ["string", "nul"]}, '"nul"'),
    ({"type": None}, "null"),
    ({"properties": {"a": {"minimum": "x"}}}, '"x"'),
    ({"items": {"minLength": -1}}, "-1"),
    ({"items": {"minItems": 1.5}}, "1.5"),
    ({"anyOf": [{"type": "text"}, {}]}, '"text"'),
    ({"required": "a"}, '"a"'),
    ({"additionalProperties": {"not": {"maximum": True}}}, "true"),
]
TAKEN: list[dict[str, Any]] = [
    {},
    {"type": ["string", "null"], "minLength": 0, "maximum": 1.5, "minItems": 2.0},
    {"properties": {"type": {"const": "objct"}, "required": {}, "minimum": {"type": "string"}}},
    {"enum": [{"type": "objct"}], "default": {"minimum": "x"}, "examples": [{"required": "a"}]},
    {"additionalProperties": False, "items": True, "required": ["a"]},
    {"$defs": {"a": {"type": "array"}}, "$ref": "#/$defs/a", "x-note": {"type": "nothing"}},
]


def written(schema: dict[str, Any]) -> str:
    return graders(f"  - {{type: json_schema, name: c, config: {{schema: {json.dumps(schema)}}}}}\n")


@pytest.mark.parametrize(("schema", "marked"), REFUSED)
def test_what_the_engine_refuses_is_marked(schema: dict[str, Any], marked: str) -> None:
    with pytest.raises(SchemaError):
        compile_schema(schema)
    text = written(schema)
    found = [each for each in problems(text) if "JSON Schema" in each.message]
    assert [text[each.span.start : each.span.end] for each in found] == [marked]


@pytest.mark.parametrize("schema", TAKEN)
def test_what_the_engine_takes_is_left_alone(schema: dict[str, Any]) -> None:
    compile_schema(schema)
    assert problems(written(schema)) == ()


def test_another_dialect_is_left_alone() -> None:
    schema = {"$schema": "http://json-schema.org/draft-03/schema#", "required": True}
    compile_schema(schema)
    assert problems(written(schema)) == ()


def test_the_type_that_is_meant_is_offered() -> None:
    assert fixed(written({"type": "objct"}), "value-not-allowed") == written({"type": "object"})
