"""The JSON Schema of one whole grader entry of a type, made from the type's own file."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from waza_engine.graders.registry import AnyGrader
from waza_engine.schemas.tidying import Schema, ordered, tidied
from waza_engine.spec.grader_entry import GraderEntry
from waza_engine.spec.reading.yaml_reader import parse_yaml

PACKAGED = "packaged_grader"
"""The name of the schema of an entry with ``ref``."""


def grader_schema(grader: type[AnyGrader]) -> Schema:
    """Return the schema of a grader entry of this type; custom types have one too.

    An option that is allowed next to ``type`` is enough there, so the rule that requires it in ``config``
    moves up to the entry.
    """
    entry = tidied(GraderEntry.model_json_schema())
    config, lifted = _lift(tidied(grader.config_model.model_json_schema()), grader.entry_keys)
    needs_config = _needs_config(grader) and not lifted
    properties = {
        "name": entry["properties"]["name"],
        "type": {
            **entry["properties"]["type"],
            "type": "string",
            "const": grader.type,
            **_deprecation(grader),
        },
        "weight": entry["properties"]["weight"],
        "required": entry["properties"]["required"],
        "binary": entry["properties"]["binary"],
        "config": config if needs_config else {**config, "type": ["object", "null"]},
        **{key: _beside(key, config["properties"][key]) for key in grader.entry_keys},
    }
    schema: Schema = {
        "title": grader.title,
        "description": inspect.getdoc(grader) or "",
        "type": "object",
        "properties": {key: ordered(value) for key, value in properties.items()},
        "required": ["type", "config"] if needs_config else ["type"],
        "additionalProperties": False,
        "examples": _examples(grader),
        "x-waza-kind": "grader",
        "x-waza-snippet": _snippet(grader),
        "x-waza-unknown-keys": "warning",
        "x-waza-recommended": entry["x-waza-recommended"],
        "x-waza-misspellings": entry["x-waza-misspellings"],
        **({"x-waza-other-names": list(grader.other_names)} if grader.other_names else {}),
        **({"x-waza-asks-model": True} if grader.judged else {}),
        **({"x-waza-runs-program": True} if grader.runs_program else {}),
        **_deprecation(grader),
    }
    return ordered({**schema, "allOf": lifted} if lifted else schema)


def packaged_grader_schema(types: Iterable[str]) -> Schema:
    """Return the schema of a grader entry that names a grader of a package; its options are not known."""
    entry = tidied(GraderEntry.model_json_schema())
    properties = entry["properties"]
    return ordered(
        {
            "title": "Grader of a package",
            "description": "A grader that a package brings; `waza.lock` pins its content.",
            "type": "object",
            "properties": {
                "ref": {**properties["ref"], "minLength": 1, "type": "string"},
                "name": properties["name"],
                "type": {**properties["type"], "enum": [*types, "", None]},
                **{key: value for key, value in properties.items() if key not in ("ref", "name", "type")},
            },
            "required": ["ref"],
            "additionalProperties": False,
            "x-waza-kind": "grader",
            "x-waza-unknown-keys": "warning",
            "x-waza-misspellings": entry["x-waza-misspellings"],
        }
    )


def any_grader(graders: Mapping[str, type[AnyGrader]], *, packaged: bool = False) -> Schema:
    """Return the schema of a grader entry of any type, for a list of graders.

    Where ``packaged`` is true, an entry may name a grader of a package by ``ref`` instead.
    """
    entry = GraderEntry.model_json_schema()
    branches = [*(f"grader_{name}" for name in graders), *([PACKAGED] if packaged else ())]
    return {
        "description": entry["description"],
        "type": "object",
        "x-waza-kind": "grader",
        **({} if packaged else {"required": ["type"]}),
        "discriminator": {"propertyName": "type"},
        "oneOf": [{"$ref": f"#/$defs/{name}"} for name in branches],
    }


def _needs_config(grader: type[AnyGrader]) -> bool:
    try:
        grader.config_model.model_validate({})
    except ValidationError:
        return True
    return False


def _deprecation(grader: type[AnyGrader]) -> Schema:
    if grader.deprecation:
        return {"deprecated": True, "x-waza-deprecation": grader.deprecation}
    if grader.replaced_by is None:
        return {}
    return {"deprecated": True, "x-waza-replaced-by": grader.replaced_by}


def _beside(key: str, option: Schema) -> Schema:
    schema = {name: value for name, value in option.items() if name != "default"}
    types = schema.get("type", [])
    if "null" not in types:
        schema["type"] = [*([types] if isinstance(types, str) else types), "null"]
    where = f"Older place of this option: write it inside `config`.\n\n{option.get('description', '')}"
    return ordered(
        {**schema, "description": where, "deprecated": True, "x-waza-replaced-by": f"config.{key}"}
    )


def _lift(config: Schema, entry_keys: Sequence[str]) -> tuple[Schema, list[Schema]]:
    """Return the config's schema without rules for keys that are allowed next to it; and those rules."""
    lifted: list[Schema] = []
    required = [key for key in config.get("required", []) if key in entry_keys]
    for key in required:
        beside = {"required": [key], "properties": {key: {"not": {"type": "null"}}}}
        lifted.append(_unless(beside, {"required": [key]}))
    branches = [branch for branch in config.get("anyOf", []) if branch["required"][0] in entry_keys]
    if branches:
        beside = {"anyOf": branches}
        lifted.append(
            _unless(beside, {key: config[key] for key in ("anyOf", "x-waza-at-least-one") if key in config})
        )
    kept = {key: value for key, value in config.items() if not (key == "anyOf" and branches)}
    if required:
        kept["required"] = [key for key in config["required"] if key not in required]
        if not kept["required"]:
            del kept["required"]
    return kept, lifted


def _unless(beside: Schema, rule: Schema) -> Schema:
    return {
        "if": beside,
        "else": {"required": ["config"], "properties": {"config": {"type": "object", **rule}}},
    }


def _snippet(grader: type[AnyGrader]) -> str:
    return textwrap.dedent(grader.example).strip()


def _examples(grader: type[AnyGrader]) -> list[Any]:
    example = parse_yaml(_snippet(grader), Path(grader.type)).value
    return cast("list[Any]", example) if isinstance(example, list) else [example]
