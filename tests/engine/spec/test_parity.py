"""What the editor accepts is what the engine runs: the models and the schemas agree on every value."""

from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from tests.engine.spec.schema_reading import error_validator, schema_of, unequal_bounds
from tests.engine.spec.specimens import variants
from tests.shared_corpus import suite_files
from waza_engine.graders.registry import BUILT_IN_TYPES, grader_types
from waza_engine.schemas.suite_schemas import DOCUMENTS
from waza_engine.spec.grader_entry import GraderEntry
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.yaml_reader import read_yaml

MODELS = {kind: model for kind, (_, model) in DOCUMENTS.items()}


def model_accepts(kind: str, value: Any) -> bool:
    if kind.startswith("grader:"):
        return grader_accepts(value, kind.removeprefix("grader:"))
    return accepts(MODELS[kind], value) and all(grader_accepts(entry) for entry in graders_in(value))


def accepts(model: type[BaseModel], value: Any) -> bool:
    try:
        model.model_validate(value)
    except ValidationError:
        return False
    return True


def grader_accepts(entry: Any, expected_type: str | None = None) -> bool:
    """Build the config as a run does: options beside ``type`` fill those missing in ``config``."""
    if not accepts(GraderEntry, entry) or entry.get("type") not in BUILT_IN_TYPES:
        return False
    if expected_type not in (None, entry["type"]):
        return False
    grader = grader_types()[entry["type"]]
    config = dict(entry.get("config") or {})
    for key in ("assertions", "rubric", "model", "script"):
        if key in entry and key not in grader.entry_keys:
            return False
        if entry.get(key) is not None and config.get(key) is None:
            config[key] = entry[key]
    return accepts(grader.config_model, config)


def graders_in(value: Any) -> list[Any]:
    """Return every grader entry of an eval or task, at any depth."""
    if isinstance(value, list):
        return [entry for item in value for entry in graders_in(item)]
    if not isinstance(value, Mapping):
        return []
    listed = value.get("graders")
    entries = [entry for entry in listed if isinstance(entry, Mapping)] if isinstance(listed, list) else []
    for key in ("tasks", "expected", "checkpoints"):
        entries += graders_in(value.get(key))
    return entries


@pytest.mark.parametrize("kind", [*MODELS, *(f"grader:{name}" for name in BUILT_IN_TYPES)])
def test_models_and_schemas_accept_and_refuse_the_same_values(kind: str) -> None:
    validator = error_validator(kind, unknown_keys=True)
    schema = schema_of(kind)
    verdicts = {True: 0, False: 0}
    for value in variants(schema):
        expected = model_accepts(kind, value)
        verdicts[expected] += 1
        if not unequal_bounds(schema, value) and not only_models_see(value):
            errors = [f"{error.instance_path}: {error.message}" for error in validator.iter_errors(value)]
            assert (not errors) == expected, (value, errors)
    assert min(verdicts.values()) > 10, verdicts


def only_models_see(value: Any) -> bool:
    """Tell whether a rule is broken that compares values with each other, which JSON Schema cannot say."""
    if not isinstance(value, Mapping):
        return False
    turns = [item.get("after_turn") for item in blocks_in(value, "checkpoints")]
    mocks = [item.get("name") for item in blocks_in(value, "mcp_mocks")]
    if value.get("range") == [10, 1] or any(turn not in (1, None) for turn in turns):
        return True
    if any(only_models_see(task) for task in blocks_in(value, "tasks")):
        return True
    commands = blocks_in(value, "command_mocks")
    if any(has_float_in_step(value.get(key)) for key in ("command_mocks", "mcp_mocks")):
        return True
    return len(turns) > 1 or len(mocks) > 1 or len(commands) > 1


def has_float_in_step(value: Any, *, in_step: bool = False) -> bool:
    """Tell whether a number of a step is `1.0`: to JSON Schema that is a whole number."""
    if isinstance(value, list):
        return any(has_float_in_step(item, in_step=in_step) for item in value)
    if isinstance(value, Mapping):
        return any(
            has_float_in_step(item, in_step=in_step or key == "sequence") for key, item in value.items()
        )
    return in_step and isinstance(value, float)


def blocks_in(value: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    listed = value.get(key)
    return [item for item in listed if isinstance(item, Mapping)] if isinstance(listed, list) else []


@pytest.mark.parametrize("path", suite_files(), ids=lambda path: "/".join(path.parts[-4:]))
def test_models_and_schemas_agree_on_real_files(path: Any) -> None:
    try:
        value = read_yaml(path)
    except SuiteFileError:
        value = None  # Not YAML: both must refuse what is left of it, nothing.
    for kind in ("eval", "task", "trigger_tests", "project_config"):
        errors = [
            str(error.instance_path) for error in error_validator(kind, unknown_keys=True).iter_errors(value)
        ]
        assert (not errors) == model_accepts(kind, value), (kind, errors)
