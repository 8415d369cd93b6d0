"""JSON Schemas in graders: what the engine refuses is marked, and nothing that it takes."""

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
    ({"enum": "a"}, '"a"'),
    ({"$defs": {"a": {}}, "$ref": "#/$defs/b"}, '"#/$defs/b"'),
    ({"properties": {"a": {"$ref": "#/$defs/b"}}}, '"#/$defs/b"'),
    ({"anyOf": [{}], "items": {"$ref": "#/anyOf/1"}}, '"#/anyOf/1"'),
    ({"properties": {"a": {"pattern": "a(b"}}}, "("),
    ({"$schema": "http://json-schema.org/draft-42/schema#"}, '"http://json-schema.org/draft-42/schema#"'),
    ({"$schema": "http://json-schema.org/draft-07/schema#", "type": "text"}, '"text"'),
    ({"$schema": "https://json-schema.org/draft-07/schema", "type": "text"}, '"text"'),
]
TAKEN: list[dict[str, Any]] = [
    {},
    {"type": ["string", "null"], "minLength": 0, "maximum": 1.5, "minItems": 2.0},
    {"properties": {"type": {"const": "objct"}, "required": {}, "minimum": {"type": "string"}}},
    {"enum": [{"type": "objct"}], "default": {"minimum": "x"}, "examples": [{"required": "a"}]},
    {"additionalProperties": False, "items": True, "required": ["a"]},
    {"type": "object", "additionalProperties": False, "properties": {"a": {}}, "required": ["a"]},
    {"type": "object", "additionalProperties": False, "patternProperties": {"^x": {}}, "required": ["xa"]},
    {
        "properties": {"a/b": {}, "c~d": {}, "e f": {}},
        "allOf": [
            {"$ref": "#/properties/a~1b"},
            {"$ref": "#/properties/c~0d"},
            {"$ref": "#/properties/e%20f"},
            {"$ref": "#"},
        ],
    },
    {"$defs": {"a": {"$anchor": "name"}}, "items": {"$ref": "#name"}},
    {"$id": "https://a.b/c", "items": {"$ref": "https://a.b/c#/x-y"}, "x-y": {}},
    {"examples": [{"$ref": "#/nowhere", "pattern": "("}], "const": {"$ref": "#/nowhere"}},
    {"propertyNames": {"pattern": "^(?!x)a"}, "example": 1, "nullable": True, "x-typ": 1, "tipe": 3},
    {"minimum": 2, "maximum": 2, "minLength": 0, "maxLength": 0},
    {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": {"a": {}},
        "items": [{"$ref": "#/definitions/a"}],
    },
    {"$defs": {"a": {"type": "array"}}, "$ref": "#/$defs/a", "x-note": {"type": "nothing"}},
    {"$schema": "https://json-schema.org/draft-07/schema#", "definitions": {}, "type": "object"},
    {"$schema": "http://json-schema.org/draft/2020-12/schema#", "$defs": {}, "type": "object"},
    {"$schema": "https://json-schema.org/schema", "type": "object"},
    {"$schema": "https://json-schema.org/draft-04/schema", "exclusiveMinimum": True, "minimum": 1},
]


def written(schema: dict[str, Any]) -> str:
    return graders(f"  - {{type: json_schema, name: c, config: {{schema: {json.dumps(schema)}}}}}\n")


@pytest.mark.parametrize(("schema", "marked"), REFUSED)
def test_what_the_engine_refuses_is_marked(schema: dict[str, Any], marked: str) -> None:
    with pytest.raises(SchemaError):
        compile_schema(schema)
    text = written(schema)
    found = [each for each in problems(text) if each.severity == "error"]
    assert [text[each.span.start : each.span.end] for each in found] == [marked]


@pytest.mark.parametrize("schema", TAKEN)
def test_what_the_engine_takes_is_left_alone(schema: dict[str, Any]) -> None:
    compile_schema(schema)
    assert problems(written(schema)) == ()


def test_a_misspelt_word_that_checks_nothing_is_marked() -> None:
    text = graders("  - {type: json_schema, name: c, config: {schema: {propertes: {a: {type: string}}}}}\n")
    assert fixed(text, "unknown-key") == text.replace("propertes", "properties")


def test_the_reference_that_is_meant_is_offered() -> None:
    schema = {"$defs": {"state": {}}, "items": {"$ref": "#/$defs/stat"}}
    meant = {"$defs": {"state": {}}, "items": {"$ref": "#/$defs/state"}}
    assert fixed(written(schema), "value-not-allowed") == written(meant)


def test_another_dialect_is_left_alone() -> None:
    schema = {"$schema": "http://json-schema.org/draft-03/schema#", "required": True}
    compile_schema(schema)
    assert problems(written(schema)) == ()


def test_the_type_that_is_meant_is_offered() -> None:
    assert fixed(written({"type": "objct"}), "value-not-allowed") == written({"type": "object"})


@pytest.mark.parametrize(
    ("written", "meant"), [("int", "integer"), ("str", "string"), ("dict", "object"), ("Bool", "boolean")]
)
def test_a_type_of_a_programming_language(written: str, meant: str) -> None:
    text = graders(
        f"  - type: json_schema\n    name: a\n    config:\n      schema:\n        type: {written}\n"
    )
    [problem] = problems(text)
    assert f"did you mean `{meant}`?" in problem.message
    assert fixed(text, "value-not-allowed") == text.replace(f": {written}\n", f": {meant}\n")


def test_a_schema_in_a_file_beside_one_that_is_written_has_no_effect() -> None:
    config = "      schema_file: a.json\n      schema: {type: object}\n"
    text = graders(f"  - type: json_schema\n    name: a\n    config:\n{config}")
    assert [each.code for each in problems(text)] == ["key-without-effect"]
