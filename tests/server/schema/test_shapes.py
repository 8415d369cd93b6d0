"""Shapes tell the editor what may stand at a place, also at places that are not written yet."""

import pytest

from waza_language_server.project.document import Document, DocumentKind
from waza_language_server.schema.catalog import default_catalog
from waza_language_server.schema.locate import graders_in, located_below, shape_at
from waza_language_server.schema.shape import SchemaRoot, Shape
from waza_language_server.syntax.nodes import Node

TASK = """\
id: t
inputs:
  prompt: Go
  files:
    - path: a.txt
graders:
  - type: text
    name: a
    config:
      regex_match: ['x']
  - name: b
expected:
  graders:
    - a
    - type: code
      name: c
      config:
        assertions: [len(output) > 0]
"""


def root_of(text: str, kind: DocumentKind = "task") -> Node:
    root = Document("untitled:test", 0, text, kind).tree.root
    assert root is not None
    return root


def shape(*path: str | int) -> Shape:
    found = shape_at("task", path, root_of(TASK), default_catalog())
    assert found is not None
    return found


def test_every_grader_type_has_a_schema_file() -> None:
    assert {"code", "text", "file", "tool_calls", "prompt", "human"} <= set(default_catalog().grader_types)
    assert all(default_catalog().grader(name) for name in default_catalog().grader_types)


def test_an_entry_has_the_shape_of_its_type() -> None:
    assert "regex_match" in shape("graders", 0, "config").properties


def test_an_option_knows_its_kind() -> None:
    assert shape("graders", 0, "config", "regex_match", 0).kind == "regex"
    assert shape("expected", "graders", 1, "config", "assertions", 0).kind == "python.assertion"


def test_an_entry_without_type_has_the_keys_of_all_types() -> None:
    entry = shape("graders", 1)
    assert {"name", "type", "weight", "config"} <= entry.properties.keys()
    assert "text" in shape("graders", 1, "type").enum


def test_a_place_that_is_not_written_yet_has_a_shape() -> None:
    assert "path" in shape("inputs", "files", 7).properties
    assert shape_at("task", ("inputs", "prompt"), None, default_catalog()) is not None


def test_an_unknown_place_has_none() -> None:
    assert shape_at("task", ("nowhere", 0), root_of(TASK), default_catalog()) is None


def test_the_alternative_is_chosen_by_what_is_written() -> None:
    assert shape("expected", "graders", 0).kind == "grader.name"
    assert "config" in shape("expected", "graders", 1).properties


def test_all_grader_entries_of_a_document_are_found() -> None:
    names = [entry.get("name") for entry in graders_in(root_of(TASK), "task", default_catalog())]
    assert [name.value for name in names if name is not None] == ["a", "b", "c"]


def test_every_value_is_located_once_in_source_order() -> None:
    catalog = default_catalog()
    below = located_below(root_of(TASK), catalog.document("task"), catalog)
    starts = [node.span.start for node, _ in below]
    assert starts == sorted(starts)


@pytest.mark.parametrize("kind", ["eval", "task", "trigger_tests", "project_config"])
def test_every_key_of_every_document_is_described(kind: DocumentKind) -> None:
    def undescribed(shape: Shape, path: str, depth: int) -> list[str]:
        if depth > 6 or shape.kind == "grader":
            return []
        found = [f"{path}.{name}" for name, each in shape.properties.items() if not each.shape.description]
        for name, each in shape.properties.items():
            for below in (each.shape, each.shape.items):
                if below is not None:
                    found += undescribed(below, f"{path}.{name}", depth + 1)
        return found

    assert undescribed(default_catalog().document(kind), kind, 0) == []


def test_keys_beside_a_reference_win() -> None:
    schema = {
        "properties": {"a": {"$ref": "#/$defs/x", "description": "mine"}},
        "$defs": {"x": {"type": "string", "description": "theirs"}},
    }
    found = SchemaRoot(schema).top.properties["a"].shape
    assert (found.description, found.types) == ("mine", frozenset({"string"}))


def test_a_reference_to_itself_ends() -> None:
    schema = {"$ref": "#/$defs/x", "$defs": {"x": {"$ref": "#/$defs/x", "type": "object"}}}
    assert SchemaRoot(schema).top.types == frozenset({"object"})
