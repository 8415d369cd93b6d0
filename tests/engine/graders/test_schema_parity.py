"""What the editor accepts is what the engine runs: every config model agrees with its JSON Schema."""

import json
import random
from collections.abc import Mapping
from typing import Any

import jsonschema_rs
import pytest
from pydantic import ValidationError

from tests.shared_corpus import SUITES, needs_corpus, suite_files
from waza_engine.graders.base import GraderConfig
from waza_engine.graders.registry import grader_types

WRONG: list[Any] = [
    None,
    True,
    0,
    -1,
    3,
    2.5,
    2.0,
    "",
    " ",
    "text",
    "off",
    [],
    ["a"],
    [""],
    [None],
    [1],
    [[]],
    {},
    {"a": 1},
]
TYPES = list(grader_types())
every_type = pytest.mark.parametrize("name", TYPES)


def accepts(model: type[GraderConfig], value: object) -> bool:
    try:
        model.model_validate(value)
    except ValidationError:
        return False
    return True


def values_for(schema: Mapping[str, Any], rng: random.Random) -> list[Any]:
    values = [*WRONG, *schema.get("examples", ()), *schema.get("enum", ())]
    if "items" in schema:
        values += [
            [{}],
            [{"path": "a"}],
            [{"tool": "a"}],
            [{"path": "a", "contains": ["+x"], "snapshot": None}],
        ]
        values += [
            [{"pattern": "a"}],
            [{"tool": "b", "args": {"c": rng.choice(MATCHERS)}}],
            [{"path": "a", "x": 1}],
        ]
    return values


MATCHERS: list[Any] = [
    {"equals": None},
    {"regex": ""},
    {"regex": None},
    {"contains": "a"},
    {"range": {"gte": 1}},
    {"range": {}},
    {"range": {"gte": None}},
    {"range": {"gte": "1"}},
    {"json_schema": {}},
    {"json_schema": {"type": "string"}},
    {"regex": "a", "contains": "b"},
    {},
    "a",
]


@every_type
def test_random_configs_are_judged_alike(name: str) -> None:
    model = grader_types()[name].config_model
    schema = model.model_json_schema()
    validator = jsonschema_rs.validator_for(schema)
    rng = random.Random(name)
    accepted = 0
    for _ in range(1500):
        config = random_config(schema, rng)
        by_model = accepts(model, config)
        if by_model != validator.is_valid(config) and not known_gap(schema, config):
            pytest.fail(
                f"the model {'accepts' if by_model else 'refuses'}, the schema does not: {json.dumps(config)}"
            )
        accepted += by_model
    assert accepted > 20, "the generator should hit valid configs too"


def random_config(schema: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
    properties: dict[str, Any] = schema["properties"]
    keys = rng.sample(list(properties), rng.randint(0, min(3, len(properties))))
    keys += [key for key in schema.get("required", ()) if key not in keys and rng.random() < 0.8]
    config = {key: rng.choice(values_for(properties[key], rng)) for key in keys}
    # Mostly take what the schema calls an example, so that valid configs are frequent.
    for key in keys:
        examples = properties[key].get("examples") or properties[key].get("enum")
        if examples and rng.random() < 0.6:
            config[key] = rng.choice(examples)
    if rng.random() < 0.05:
        config["no_such_option"] = 1
    return config


def known_gap(schema: Mapping[str, Any], config: Mapping[str, Any]) -> bool:
    """Return whether JSON Schema cannot say it: bounds that contradict each other.

    Or says it only when the schema is published: that a block may be empty.
    """
    empty = [name for name, value in config.items() if value is None]
    if any(schema["properties"][name].get("x-waza-nullable") for name in empty):
        return True
    bounds = [
        (config.get(low), config.get(high)) for low, high in schema.get("x-waza-not-greater", {}).items()
    ]
    return any(
        isinstance(low, int | float) and isinstance(high, int | float) and low > high for low, high in bounds
    )


@needs_corpus
def test_the_graders_of_public_suites_are_judged_alike() -> None:
    from yaml import YAMLError, safe_load

    validators = {
        name: jsonschema_rs.validator_for(g.config_model.model_json_schema())
        for name, g in grader_types().items()
    }
    seen = 0
    for path in suite_files():
        try:
            document: Any = safe_load(path.read_text("utf-8"))
        except (YAMLError, UnicodeDecodeError):
            continue
        for entry in graders_in(document):
            config = entry.get("config")
            if entry["type"] not in validators or not isinstance(config, dict):
                continue
            seen += 1
            by_model = accepts(grader_types()[entry["type"]].config_model, config)
            assert by_model == validators[entry["type"]].is_valid(config), (path.relative_to(SUITES), entry)
    assert seen > 100


def graders_in(document: Any) -> list[dict[str, Any]]:
    entries = document.get("graders") if isinstance(document, dict) else None
    if not isinstance(entries, list):
        return []
    return [entry for entry in entries if isinstance(entry, dict) and isinstance(entry.get("type"), str)]


@every_type
def test_schemas_are_clean(name: str) -> None:
    schema = grader_types()[name].config_model.model_json_schema()
    text = json.dumps(schema)
    assert '"oneOf"' not in text
    assert '"discriminator"' not in text
    assert '"default": null' not in text
    for block in (schema, *schema.get("$defs", {}).values()):
        assert block["additionalProperties"] is False
        assert block["description"]
        assert "title" not in block
        assert all("title" not in option for option in block["properties"].values())
