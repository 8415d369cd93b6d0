"""The names that an assertion may use, each with a line of documentation.

Light: the language server imports it too.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

CONTEXT_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "output": "The agent's final answer, as text.",
        "outcome": "A dict that is always empty in current runs; use `outcome.get('status')` if at all.",
        "transcript": "The events of the session, dicts with `type` and, by type, `content` or `message`.",
        "tool_calls": "The tool calls, dicts with `name`, `arguments`, `success`, `id` and maybe `result`.",
        "errors": "The transcript events whose type or content contains the text `error`, a list of dicts.",
        "duration_ms": "How long the run took, in milliseconds, a whole number.",
    }
)

FUNCTION_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "len": "`len(x)`: how many items or characters `x` has.",
        "any": "`any(xs)`: whether an item is true.",
        "all": "`all(xs)`: whether every item is true.",
        "re": "The module of regular expressions: `re.search(r'\\d+', output)`.",
        "str": "`str(x)`: `x` as text.",
        "int": "`int(x)`: `x` as a whole number.",
        "float": "`float(x)`: `x` as a number.",
        "bool": "`bool(x)`: whether `x` counts as true.",
        "list": "`list(xs)`: the items as a list.",
        "dict": "`dict(pairs)`: a dict of key and value pairs.",
    }
)

DOCS: Mapping[str, str] = MappingProxyType(
    {**CONTEXT_NAMES, **FUNCTION_NAMES, "True": "The true value.", "False": "The false value."}
)

ALL_NAMES: frozenset[str] = frozenset(DOCS)

TOOL_CALL_FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "name": "The tool's name.",
        "arguments": "The arguments, a dict.",
        "success": "Whether the call succeeded.",
        "id": "The id of the call; not always there.",
        "result": "What the tool returned; not always there, so use `.get('result')`.",
    }
)

ARGUMENT_FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "path": "The file that the tool was given.",
        "file_text": "The text that the tool was given for a file.",
        "command": "The command that the tool was given.",
        "description": "How the agent described the call.",
        "skill": "The skill that the tool was given.",
    }
)
"""The arguments of a call that an assertion sees: all of them always, "" for one that was not given."""

EVENT_FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "type": "The kind of event, such as `assistant.message`.",
        "content": "The text of the event; not always there.",
        "message": "The message of the event; not always there.",
    }
)
