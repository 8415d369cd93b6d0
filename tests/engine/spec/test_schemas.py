"""The generated schemas: committed, self-contained, documented, and true to their own examples."""

import errno
import json
import re
import shutil
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import typer.main

import waza_engine
from tests.engine.spec.schema_reading import all_schemas, schema_of, subschemas
from waza_engine.commands.application import application
from waza_engine.graders.registry import BUILT_IN_TYPES
from waza_engine.schemas.suite_schemas import write_schemas
from waza_engine.spec.reading.yaml_reader import parse_yaml

COMMITTED = Path(waza_engine.__file__).parent / "schemas"
NAMES = sorted(all_schemas())


def test_the_committed_schemas_are_the_generated_ones_and_that_of_a_type_that_is_gone_is_deleted(
    tmp_path: Path,
) -> None:
    (tmp_path / "graders").mkdir()
    (tmp_path / "graders" / "gone.schema.json").write_text("{}")
    write_schemas(tmp_path)
    fresh = {path.relative_to(tmp_path): path.read_text("utf-8") for path in tmp_path.rglob("*.json")}
    committed = {path.relative_to(COMMITTED): path.read_text("utf-8") for path in COMMITTED.rglob("*.json")}
    assert committed == fresh, "run `make schemas`"


def test_every_built_in_type_has_a_schema_of_its_whole_entry() -> None:
    assert {name for name in NAMES if name.startswith("graders/")} == {
        f"graders/{name}.schema.json" for name in BUILT_IN_TYPES
    }
    for name in BUILT_IN_TYPES:
        properties = schema_of(f"grader:{name}")["properties"]
        assert properties["type"]["const"] == name
        assert {"name", "type", "weight", "config"} <= properties.keys()


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_valid_and_names_no_other_place(name: str) -> None:
    schema = all_schemas()[name]
    jsonschema_rs.meta.validate(schema)
    assert schema["$id"].startswith("urn:waza:schema:")
    for path, part in subschemas(schema):
        assert part.get("$ref", "#/").startswith("#/"), path


@pytest.mark.parametrize("name", NAMES)
def test_every_key_has_a_description(name: str) -> None:
    for path, part in subschemas(all_schemas()[name]):
        if is_value(path):
            assert len(part.get("description", "")) > 5, path


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_carries_no_noise_of_the_model_library(name: str) -> None:
    for path, part in subschemas(all_schemas()[name]):
        assert "x-waza-nullable" not in part, path
        assert {"ge", "le", "gt", "lt"}.isdisjoint(part), path
        assert {"type": "null"} not in part.get("anyOf", []), path
        if is_value(path):
            assert "title" not in part, path


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_of_every_key_are_valid(name: str) -> None:
    schema = all_schemas()[name]
    for path, part in subschemas(schema):
        if "examples" in part:
            validator = jsonschema_rs.Draft202012Validator({**part, "$defs": schema.get("$defs", {})})
            for example in part["examples"]:
                assert not [error.message for error in validator.iter_errors(example)], (path, example)


@pytest.mark.parametrize("name", NAMES)
def test_defaults_are_valid(name: str) -> None:
    for path, part in subschemas(all_schemas()[name]):
        if "default" in part:
            assert jsonschema_rs.is_valid({**part, "$defs": {}}, part["default"]), path


@pytest.mark.parametrize("grader", BUILT_IN_TYPES)
def test_the_snippet_of_a_grader_is_valid(grader: str) -> None:
    schema = schema_of(f"grader:{grader}")
    entries: Any = parse_yaml(schema["x-waza-snippet"], Path(grader)).value
    assert isinstance(entries, list)
    for entry in entries:
        assert not [error.message for error in jsonschema_rs.Draft202012Validator(schema).iter_errors(entry)]


@pytest.mark.parametrize("name", NAMES)
def test_annotations_name_keys_that_exist(name: str) -> None:
    for path, part in subschemas(all_schemas()[name]):
        known = part.get("properties", {}).keys()
        assert set(part.get("x-waza-misspellings", {}).values()) <= known, path
        assert known.isdisjoint(part.get("x-waza-misspellings", {})), path
        assert {entry["key"] for entry in part.get("x-waza-recommended", [])} <= known, path
        assert set(part.get("x-waza-at-least-one", [])) <= known or {"then", "else"} & {*path}, path


@pytest.mark.parametrize("grader", ["regex", "keyword", "script", "llm", "llm_comparison"])
def test_older_grader_types_are_deprecated_and_name_their_successor(grader: str) -> None:
    schema = schema_of(f"grader:{grader}")
    assert schema["deprecated"] is True
    assert schema["properties"]["type"]["deprecated"] is True
    assert "deprecated" not in schema_of(f"grader:{schema['x-waza-replaced-by']}")


@pytest.mark.parametrize("grader", ["human", "human_calibration", "text", "tool_calls"])
def test_other_grader_types_are_not_deprecated(grader: str) -> None:
    assert "deprecated" not in schema_of(f"grader:{grader}")


@pytest.mark.parametrize(
    ("kind", "pointer", "expected"),
    [
        ("eval", "tasks/items", "task.glob"),
        ("eval", "config/executor", "executor"),
        ("eval", "config/model", "model"),
        ("eval", "graders/items", "grader"),
        ("eval", "hooks/before_run/items/command", "command"),
        ("task", "inputs/prompt", "prompt.text"),
        ("task", "inputs/files/items/path", "path.fixture"),
        ("task", "inputs/files/items", "path.fixture"),
        ("task", "inputs/workdir", "path.workspace"),
        ("task", "expected/graders/items", "grader.name"),
        ("task", "checkpoints/items/graders/items", "grader"),
        ("trigger_tests", "skill", "skill.name"),
        ("project_config", "files/taskGlob", "glob"),
        ("grader:code", "config/assertions/items", "python.assertion"),
        ("grader:text", "config/regex_match/items", "regex"),
        ("grader:text", "name", "grader.name"),
        ("grader:text", "type", "grader.type"),
    ],
)
def test_values_that_the_editor_completes_are_marked(kind: str, pointer: str, expected: str) -> None:
    assert expected in kinds_at(schema_of(kind), pointer.split("/"))


def test_a_grader_in_a_document_is_chosen_by_its_type() -> None:
    entry = schema_of("task")["properties"]["graders"]["items"]
    assert entry["discriminator"] == {"propertyName": "type"}
    assert entry["required"] == ["type"]
    assert entry["oneOf"] == [{"$ref": f"#/$defs/grader_{name}"} for name in BUILT_IN_TYPES]


def test_a_grader_of_a_suite_may_be_one_of_a_package() -> None:
    validator = jsonschema_rs.Draft202012Validator(schema_of("eval"))
    suite: dict[str, Any] = {
        "config": {"trials_per_task": 1, "timeout_seconds": 60, "executor": "mock"},
        "tasks": ["tasks/*.yaml"],
    }
    for known in ({}, {"type": "text"}, {"name": "a", "weight": 2, "config": {"contains": ["x"]}}):
        assert validator.is_valid({**suite, "graders": [{"ref": "example.com/a/b@v1", **known}]})
    for wrong in ({}, {"ref": ""}, {"ref": "example.com/a/b@v1", "reff": 1}):
        assert not validator.is_valid({**suite, "graders": [wrong]})


def test_the_schema_of_a_suite_works_alone() -> None:
    validator = jsonschema_rs.Draft202012Validator(
        json.loads((COMMITTED / "eval.schema.json").read_text("utf-8"))
    )
    suite = {
        "config": {"trials_per_task": 1, "timeout_seconds": 60, "executor": "mock"},
        "tasks": ["tasks/*.yaml"],
        "graders": [{"type": "text", "name": "polite", "config": {"contains": ["please"]}}],
    }
    assert validator.is_valid(suite)
    suite["graders"] = [{"type": "text", "name": "polite", "config": {"contain": ["please"]}}]
    assert not validator.is_valid(suite)


def is_value(path: tuple[str, ...]) -> bool:
    """Tell whether a path of keywords leads to what a key means, rather than to a rule about keys."""
    rules = {"allOf", "if", "then", "else", "not"}
    keys_of_rule = len(path) >= 3 and path[-3].isdigit() and path[-4] == "anyOf"
    return len(path) >= 2 and path[-2] == "properties" and rules.isdisjoint(path) and not keys_of_rule


def kinds_at(schema: dict[str, Any], path: list[str]) -> set[str]:
    """Return the kinds of a value, whichever of its forms is meant."""
    forms = [schema]
    for key in path:
        forms = [form for found in forms for form in step(found, key)]
    spread = [each for form in forms for each in (form, *form.get("anyOf", []))]
    return {form["x-waza-kind"] for form in spread if "x-waza-kind" in form}


def step(schema: dict[str, Any], key: str) -> list[dict[str, Any]]:
    forms = [schema, *schema.get("anyOf", [])]
    if key == "items":
        return [form["items"] for form in forms if "items" in form]
    return [form["properties"][key] for form in forms if key in form.get("properties", {})]


@pytest.mark.parametrize("name", NAMES)
def test_a_description_promises_no_command_that_is_not_there(name: str) -> None:
    commands = set(typer.main.get_command(application).commands)  # type: ignore[attr-defined]
    for path, schema in subschemas(all_schemas()[name]):
        for promised in re.findall(r"`([a-z-]+)` runs", str(schema.get("description", ""))):
            assert promised in commands, path


def test_a_schema_that_cannot_be_written_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(COMMITTED, tmp_path, dirs_exist_ok=True)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_schemas(tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
