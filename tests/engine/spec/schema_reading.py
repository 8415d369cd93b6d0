"""The generated schemas as an editor reads them: which findings there are and how bad each one is."""

import functools
from collections.abc import Iterator
from typing import Any

import jsonschema_rs

from waza_engine.schemas.suite_schemas import schemas

Schema = dict[str, Any]
RULES_WITH_SEVERITY = (
    "type",
    "enum",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "pattern",
)


@functools.cache
def all_schemas() -> dict[str, Schema]:
    return schemas()


def schema_of(kind: str) -> Schema:
    """Return the schema of a kind of file, or of a grader type (``grader:text``)."""
    name = f"graders/{kind.removeprefix('grader:')}" if kind.startswith("grader:") else kind
    return all_schemas()[f"{name}.schema.json"]


def subschemas(schema: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Schema]]:
    """Yield every schema inside a schema with its path of keywords; data such as examples is left out."""
    yield path, schema
    for keyword in ("items", "additionalProperties", "not", "if", "then", "else", "propertyNames"):
        if isinstance(schema.get(keyword), dict):
            yield from subschemas(schema[keyword], (*path, keyword))
    for keyword in ("anyOf", "oneOf", "allOf"):
        for index, branch in enumerate(schema.get(keyword, [])):
            yield from subschemas(branch, (*path, keyword, str(index)))
    for keyword in ("properties", "$defs"):
        for key, value in schema.get(keyword, {}).items():
            yield from subschemas(value, (*path, keyword, key))


def with_errors_only(schema: Any, *, unknown_keys: bool) -> Any:
    """Return the schema without the rules that are worth less than an error.

    ``unknown_keys`` keeps the refusal of unknown keys where it is only a warning.
    """
    if isinstance(schema, list):
        return [with_errors_only(item, unknown_keys=unknown_keys) for item in schema]
    if not isinstance(schema, dict):
        return schema
    dropped: set[str] = set()
    if schema.get("x-waza-severity", "error") != "error":
        dropped.update(RULES_WITH_SEVERITY)
    if not unknown_keys and schema.get("x-waza-unknown-keys") == "warning":
        dropped.add("additionalProperties")
    result = {
        key: with_errors_only(value, unknown_keys=unknown_keys)
        for key, value in schema.items()
        if key not in dropped and key not in ("examples", "default")
    }
    # `type` says what a value is; only a narrower rule about it is worth less.
    if "type" in dropped and "type" in schema:
        types = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
        result["type"] = [*types, "number", "boolean"] if "string" in types else types
        result["type"] = list(dict.fromkeys(result["type"]))
    return result


@functools.cache
def error_validator(kind: str, *, unknown_keys: bool = False) -> jsonschema_rs.Draft202012Validator:
    schema = with_errors_only(schema_of(kind), unknown_keys=unknown_keys)
    return jsonschema_rs.Draft202012Validator(schema)


def error_paths(kind: str, value: Any) -> list[tuple[str | int, ...]]:
    """Return where the schema finds errors in a value."""
    return sorted({tuple(error.instance_path) for error in error_validator(kind).iter_errors(value)}, key=str)


def warning_paths(kind: str, value: Any) -> list[tuple[str | int, ...]]:
    """Return where the schema finds something, but no error."""
    strict = jsonschema_rs.Draft202012Validator(schema_of(kind))
    errors = set(error_paths(kind, value))
    return sorted({tuple(error.instance_path) for error in strict.iter_errors(value)} - errors, key=str)


def missing_keys(kind: str, value: dict[str, Any], pointer: str = "") -> dict[str, str]:
    """Return the recommended keys that a block lacks and their severity; ``pointer`` leads to its schema."""
    schema = schema_of(kind)
    for part in filter(None, pointer.split("/")):
        schema = schema["properties"][part] if part in schema.get("properties", {}) else schema[part]
    return {
        entry["key"]: entry["severity"]
        for entry in schema.get("x-waza-recommended", [])
        if entry["key"] not in value
    }


def unequal_bounds(schema: Any, value: Any) -> bool:
    """Tell whether two numbers that ``x-waza-not-greater`` orders are the wrong way round, at any depth."""
    if isinstance(value, list):
        return any(unequal_bounds(schema.get("items", {}), item) for item in value)
    if not isinstance(value, dict):
        return False
    for low, high in schema.get("x-waza-not-greater", {}).items():
        least, most = value.get(low), value.get(high)
        if isinstance(least, int | float) and isinstance(most, int | float) and least > most:
            return True
    return any(unequal_bounds(schema.get("properties", {}).get(key, {}), item) for key, item in value.items())
