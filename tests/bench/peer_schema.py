"""The schema that the peer validates with: our generated one, in the shape that upstream publishes.

Upstream's schema is draft-07 and picks a grader's options by ``if type … then config …``. Giving the peer
that shape keeps the comparison fair: a ``oneOf`` over all types would make it slower than its users see it.
"""

import json
from importlib import resources
from typing import Any

Schema = dict[str, Any]


def upstream_shaped_schema() -> Schema:
    """Return the eval schema as draft-07 with one ``if``/``then`` per grader type."""
    schema: Schema = json.loads(_schema_text("eval.schema.json"))
    schema["$schema"] = "http://json-schema.org/draft-07/schema#"
    schema.pop("$id", None)
    return _as_draft_07(schema, schema["$defs"])


def _by_type(branches: list[Schema]) -> Schema:
    types = [branch["properties"]["type"]["const"] for branch in branches]
    return {
        "type": "object",
        "required": ["type"],
        "additionalProperties": False,
        "properties": {**branches[0]["properties"], "type": {"enum": types}, "config": {"type": "object"}},
        "allOf": [
            {
                "if": {"properties": {"type": {"const": kind}}},
                "then": {"properties": {"config": branch["properties"].get("config", {})}},
            }
            for kind, branch in zip(types, branches, strict=True)
        ],
    }


def _as_draft_07(node: Any, definitions: Schema) -> Any:
    if isinstance(node, list):
        return [_as_draft_07(item, definitions) for item in node]
    if isinstance(node, str):
        return node.replace("#/$defs/", "#/definitions/")
    if not isinstance(node, dict):
        return node
    if node.get("x-waza-kind") == "grader" and "oneOf" in node:
        branches = (definitions[branch["$ref"].rpartition("/")[2]] for branch in node["oneOf"])
        node = _by_type([branch for branch in branches if "const" in branch["properties"]["type"]])
    return {
        ("definitions" if key == "$defs" else key): _as_draft_07(value, definitions)
        for key, value in node.items()
        if not key.startswith("x-waza") and key != "discriminator"
    }


def _schema_text(name: str) -> str:
    return resources.files("waza_engine").joinpath("schemas", name).read_text("utf-8")
