"""The JSON Schemas of agent-eval-harness 0.12, by the names under which it exports them.

The rows that the commands write validate against these schemas, and the harness reads them. The rows that
they read may have other keys: readers ask only for the keys that they use.
"""

from __future__ import annotations

from waza_engine.schemas.tidying import Schema, ordered

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_KINDS: dict[str, Schema] = {
    "text": {"type": "string"},
    "number": {"type": "number"},
    "share": {"type": "number", "minimum": 0, "maximum": 1},
    "switch": {"type": "boolean"},
    "null": {"type": "null"},
    "key": {"type": ["string", "number"]},
    "key_or_null": {"type": ["string", "number", "null"]},
    "any": {},
    "free": {"type": "object", "propertyNames": {"type": "string"}, "additionalProperties": {}},
}


def _kind(written: str) -> Schema:
    """Return a schema: ``text``, a list ``text[]``, one of several ``text|null``, the constant ``=a``."""
    if written.startswith("="):
        return {"type": "string", "const": written[1:]}
    if "|" in written:
        return {"anyOf": [_kind(each) for each in written.split("|")]}
    if written.endswith("[]"):
        return {"type": "array", "items": _kind(written[:-2])}
    return _KINDS[written]


def _object(written: str) -> Schema:
    """Return the schema of an object without other keys: ``id:text hint?:text``; ``?`` is optional."""
    keys = [part.split(":") for part in written.split()]
    return {
        "type": "object",
        "properties": {key.removesuffix("?"): _kind(kind) for key, kind in keys},
        "required": [key for key, _ in keys if not key.endswith("?")],
        "additionalProperties": False,
    }


_STEP = "timestamp:number stepId?:text"
_CALL = "name:text status:text input?:any output?:any duration?:number"
_KINDS["input"] = _kind("text|text[]")
_KINDS["score"] = _object("pass:switch score:share reasoning?:text outcome?:free")
_KINDS["step"] = {
    "oneOf": [
        _object(f"type:=thought content:text {_STEP}"),
        _object(f"type:=message content:text {_STEP}"),
        _object(f"type:=tool_call {_CALL} {_STEP}"),
        _object(f"type:=plan entries:any[] {_STEP}"),
    ]
}
_KINDS["timing"] = _object(
    "start:number end:number firstResponse?:number sessionCreation:number total:number "
    "inputTokens?:number outputTokens?:number"
)
_KINDS["trial"] = _object(
    "trialNum:number output:text trajectory:step[] duration:number "
    "pass?:switch score?:number reasoning?:text outcome?:free"
)
_KINDS["pair"] = _object("name:text value:text")
_KINDS["category"] = _object("name:text count:number percentage:number")
_KINDS["error"] = _object("code:number message:text data?:any")
_KINDS["stdio"] = _object("type?:=stdio name:text command:text args:text[] env:pair[]")
_KINDS["http"] = _object("type:=http name:text url:text headers:pair[]")
_KINDS["success"] = _object("jsonrpc:=2.0 id:key result:any")
_KINDS["failure"] = _object("jsonrpc:=2.0 id:key_or_null error:error")

SCHEMAS: dict[str, Schema] = {
    "PromptCase": _object("id:text input:input hint?:text reference?:text metadata?:free timeout?:number"),
    "GraderResult": _KINDS["score"],
    "TrajectoryStep": _KINDS["step"],
    "CaptureResult": _object(
        "id:text input:input output:text hint?:text trajectory:step[] metadata:free timing:timing "
        "toolErrors:switch errors?:text[] score?:score outcome?:free"
    ),
    "SummaryResult": _object("id:text input:text output:text toolCalls:text[] duration:number"),
    "TrialEntry": _KINDS["trial"],
    "TrialResult": _object(
        "id:text input:input hint?:text k:number passRate?:number passAtK?:number passExpK?:number "
        "trials:trial[] metadata?:free"
    ),
    "CalibrationSample": _object(
        "id:text input:input output:text hint?:text originalScore:score rescoredResult?:score "
        "trajectorySnippet:step[]"
    ),
    "BalanceAnalysis": _object(
        "totalCases:number categories:category[] underrepresented:text[] suggestions:text[]"
    ),
    "ValidationResult": _object("id:text reference:text passes:switch graderResult:score"),
    "McpServerConfig": _kind("stdio|http"),
    "Session": _object("id:text _meta?:free|null"),
    "JsonRpcRequest": _object("jsonrpc:=2.0 id:key method:text params?:any"),
    "JsonRpcResponse": _kind("success|failure"),
    "JsonRpcError": _KINDS["error"],
}
"""Without their titles."""

_ABOUT = {
    "id": "Identifier of the prompt.",
    "input": "The prompt; a list is a conversation, one turn after the other.",
    "output": "The agent's answer.",
    "hint": "The content of a good answer, for graders.",
    "trajectory": "Messages, thoughts, plans and tool calls of the agent.",
    "metadata": "The metadata of the prompt, and facts about the agent and its process.",
    "timing": "When the agent began and ended, in milliseconds.",
    "toolErrors": "True if a tool call failed or the time was over.",
    "errors": "Why there is no answer: the agent did not start, its grader failed.",
    "score": "The verdict of the grader; in a trial its number from 0 to 1.",
    "outcome": "Facts that the grader found out.",
    "pass": "The verdict: `true` for a pass.",
    "reasoning": "Why, in the words of the grader.",
    "k": "How many trials the prompt had.",
    "trials": "The trials, in order.",
    "trialNum": "The number of the trial, from 1.",
    "duration": "How long it took, in milliseconds.",
    "passRate": "The share of trials that passed.",
    "passAtK": "The estimated probability that at least one of k trials passes.",
    "passExpK": "The estimated probability that all of k trials pass.",
    "timestamp": "When the step happened, in milliseconds since the beginning.",
    "type": "The kind of the step.",
    "content": "The text of the message or thought.",
    "name": "The name of the tool.",
    "status": "The state of the tool call; `failed` counts as an error.",
    "stepId": "Identifier of the step.",
    "entries": "The items of the plan.",
    "inputTokens": "The tokens that the model read.",
    "outputTokens": "The tokens that the model wrote.",
    "start": "The beginning, in milliseconds since 1970.",
    "end": "The end, in milliseconds since 1970.",
    "total": "The milliseconds from the beginning to the end.",
    "sessionCreation": "The milliseconds until the session was there.",
    "firstResponse": "The milliseconds until the first event.",
}
_NEEDED = {"id", "input", "output"}
"""Keys without which no command reads a row; the harness alone insists on the others."""

_SHARES = {"passRate", "passAtK", "passExpK"}
"""Keys of trials with numbers from 0 to 1; the harness accepts any number."""


def record_schemas() -> dict[str, Schema]:
    """Return the schemas of files of records for editors, by the kind of file.

    Readers are lenient, so most violations are warnings.
    """
    names = {"captures": "CaptureResult", "trials": "TrialResult"}
    titles = {"captures": "Capture (a line of results)", "trials": "Trials of a prompt (a line of results)"}
    return {kind: {**_annotated(SCHEMAS[name]), "title": titles[kind]} for kind, name in names.items()}


def _annotated(schema: Schema, key: str = "") -> Schema:
    """Return a schema with the meaning of its keys and the severities of an editor."""
    found: Schema = dict(schema)
    if key in _ABOUT:
        found["description"] = _ABOUT[key]
    if key not in _NEEDED:
        found |= {"x-waza-severity": "warning", "x-waza-missing": "warning"}
    if key in _SHARES:
        found |= _KINDS["share"]
    if "properties" in schema:
        found["properties"] = {each: _annotated(below, each) for each, below in schema["properties"].items()}
        found["x-waza-unknown-keys"] = "warning"
    if "items" in schema:
        found["items"] = _annotated(schema["items"])
    for several in ("anyOf", "oneOf"):
        if several in schema:
            found[several] = [_annotated(each) for each in schema[several]]
    return ordered(found)


def schema_of(name: str) -> Schema:
    """Return a schema that the harness exports, with its title. Raises ``KeyError``."""
    return {"$schema": _DIALECT, "title": name, **SCHEMAS[name]}
