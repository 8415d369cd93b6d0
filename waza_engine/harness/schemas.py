"""The JSON Schemas of agent-eval-harness 0.12, by the names under which it exports them.

What the commands write validates against these schemas, and the harness reads it. What they read may have
more and less: readers ask only for the keys that they use.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Schema: TypeAlias = dict[str, Any]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_OPTIONAL = "?"
_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "number"}
_SWITCH: Schema = {"type": "boolean"}
_ANYTHING: Schema = {}
_FREE: Schema = {"type": "object", "propertyNames": _TEXT, "additionalProperties": {}}


def _object(properties: Mapping[str, Schema]) -> Schema:
    """Return the schema of an object without other keys; a name that ends with `?` may be missing."""
    return {
        "type": "object",
        "properties": {name.removesuffix(_OPTIONAL): schema for name, schema in properties.items()},
        "required": [name for name in properties if not name.endswith(_OPTIONAL)],
        "additionalProperties": False,
    }


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _is(value: str) -> Schema:
    return {"type": "string", "const": value}


def _any_of(*schemas: Schema) -> Schema:
    return {"anyOf": list(schemas)}


_INPUT = _any_of(_TEXT, _list(_TEXT))
_SCORE = _object(
    {
        "pass": _SWITCH,
        "score": {"type": "number", "minimum": 0, "maximum": 1},
        "reasoning?": _TEXT,
        "outcome?": _FREE,
    }
)
_WHEN: Mapping[str, Schema] = {"timestamp": _NUMBER, "stepId?": _TEXT}
_CALL: Mapping[str, Schema] = {
    "name": _TEXT,
    "status": _TEXT,
    "input?": _ANYTHING,
    "output?": _ANYTHING,
    "duration?": _NUMBER,
}
_STEP: Schema = {
    "oneOf": [
        _object({"type": _is("thought"), "content": _TEXT, **_WHEN}),
        _object({"type": _is("message"), "content": _TEXT, **_WHEN}),
        _object({"type": _is("tool_call"), **_CALL, **_WHEN}),
        _object({"type": _is("plan"), "entries": _list(_ANYTHING), **_WHEN}),
    ]
}
_TIMING = _object(
    {
        "start": _NUMBER,
        "end": _NUMBER,
        "firstResponse?": _NUMBER,
        "sessionCreation": _NUMBER,
        "total": _NUMBER,
        "inputTokens?": _NUMBER,
        "outputTokens?": _NUMBER,
    }
)
_TRIAL = _object(
    {
        "trialNum": _NUMBER,
        "output": _TEXT,
        "trajectory": _list(_STEP),
        "duration": _NUMBER,
        "pass?": _SWITCH,
        "score?": _NUMBER,
        "reasoning?": _TEXT,
        "outcome?": _FREE,
    }
)
_PAIR = _object({"name": _TEXT, "value": _TEXT})
_CATEGORY = _object({"name": _TEXT, "count": _NUMBER, "percentage": _NUMBER})
_ERROR = _object({"code": _NUMBER, "message": _TEXT, "data?": _ANYTHING})
_VERSION = _is("2.0")

SCHEMAS: Mapping[str, Schema] = {
    "PromptCase": _object(
        {
            "id": _TEXT,
            "input": _INPUT,
            "hint?": _TEXT,
            "reference?": _TEXT,
            "metadata?": _FREE,
            "timeout?": _NUMBER,
        }
    ),
    "GraderResult": _SCORE,
    "TrajectoryStep": _STEP,
    "CaptureResult": _object(
        {
            "id": _TEXT,
            "input": _INPUT,
            "output": _TEXT,
            "hint?": _TEXT,
            "trajectory": _list(_STEP),
            "metadata": _FREE,
            "timing": _TIMING,
            "toolErrors": _SWITCH,
            "errors?": _list(_TEXT),
            "score?": _SCORE,
            "outcome?": _FREE,
        }
    ),
    "SummaryResult": _object(
        {"id": _TEXT, "input": _TEXT, "output": _TEXT, "toolCalls": _list(_TEXT), "duration": _NUMBER}
    ),
    "TrialEntry": _TRIAL,
    "TrialResult": _object(
        {
            "id": _TEXT,
            "input": _INPUT,
            "hint?": _TEXT,
            "k": _NUMBER,
            "passRate?": _NUMBER,
            "passAtK?": _NUMBER,
            "passExpK?": _NUMBER,
            "trials": _list(_TRIAL),
            "metadata?": _FREE,
        }
    ),
    "CalibrationSample": _object(
        {
            "id": _TEXT,
            "input": _INPUT,
            "output": _TEXT,
            "hint?": _TEXT,
            "originalScore": _SCORE,
            "rescoredResult?": _SCORE,
            "trajectorySnippet": _list(_STEP),
        }
    ),
    "BalanceAnalysis": _object(
        {
            "totalCases": _NUMBER,
            "categories": _list(_CATEGORY),
            "underrepresented": _list(_TEXT),
            "suggestions": _list(_TEXT),
        }
    ),
    "ValidationResult": _object({"id": _TEXT, "reference": _TEXT, "passes": _SWITCH, "graderResult": _SCORE}),
    "McpServerConfig": _any_of(
        _object(
            {
                "type?": _is("stdio"),
                "name": _TEXT,
                "command": _TEXT,
                "args": _list(_TEXT),
                "env": _list(_PAIR),
            }
        ),
        _object({"type": _is("http"), "name": _TEXT, "url": _TEXT, "headers": _list(_PAIR)}),
    ),
    "Session": _object({"id": _TEXT, "_meta?": _any_of(_FREE, {"type": "null"})}),
    "JsonRpcRequest": _object(
        {
            "jsonrpc": _VERSION,
            "id": {"type": ["string", "number"]},
            "method": _TEXT,
            "params?": _ANYTHING,
        }
    ),
    "JsonRpcResponse": _any_of(
        _object({"jsonrpc": _VERSION, "id": {"type": ["string", "number"]}, "result": _ANYTHING}),
        _object({"jsonrpc": _VERSION, "id": {"type": ["string", "number", "null"]}, "error": _ERROR}),
    ),
    "JsonRpcError": _ERROR,
}
"""Without their titles."""

OWN_NAMES = ("Adapter",)
"""The schemas that the harness does not export."""


def schema_of(name: str) -> Schema:
    """Return a schema with its title. Raises ``KeyError``."""
    if name in OWN_NAMES:
        from waza_engine.schemas.documents import schemas

        return {**schemas()["adapter.schema.json"], "title": name}
    return {"$schema": _DIALECT, "title": name, **SCHEMAS[name]}
