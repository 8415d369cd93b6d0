"""Parse a line of an agent's output according to its adapter file.

Paths in adapter files are ``$.a.b``, ``$.a[0]``, ``$.[0]``, ``$.a[*]``, or a literal word in single quotes.
``[*]`` selects the list and ends the path. There are no filters, slices or negative indexes. A missing value
and null are both None.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, cast

from waza_engine.results.json_values import value_text
from waza_engine.spec.adapter import AdapterFile, Condition, EventMapping, UsagePaths

_PART = re.compile(r"([^\[\]]*)(?:\[([0-9]+|\*)\])?")
_WILDCARD = "*"
_Step = tuple[str, str | None]


def find(path: str, value: Any) -> Any:
    """Return the value at a path, None when there is none."""
    steps = _steps(path)
    if isinstance(steps, str) or steps is None:
        return steps
    for name, index in steps:
        if name:
            value = _property(value, name)
        if index == _WILDCARD:
            return cast("list[Any]", value) if isinstance(value, list) else None
        if index is not None:
            value = _item(value, int(index))
        if value is None:
            return None
    return value


def is_path(path: str) -> bool:
    """Return whether a path is valid."""
    return _steps(path) is not None


def find_text(path: str, value: Any) -> str | None:
    """Return the value at a path as a string; None for a missing value or an empty path."""
    return value_text(find(path, value)) if path else None


@lru_cache(maxsize=1024)
def _steps(path: str) -> tuple[_Step, ...] | str | None:
    """Return the parts of a path, the word of a quoted one, or None for an invalid path."""
    if len(path) >= 2 and path.startswith("'") and path.endswith("'"):
        return path[1:-1]
    if not path.startswith("$."):
        return None
    steps: list[_Step] = []
    for part in path[2:].split("."):
        found = _PART.fullmatch(part)
        if found is None or len(found[2] or "") > 9:
            return None
        if part:
            steps.append((found[1], found[2]))
        if found[2] == _WILDCARD:
            break
    return tuple(steps)


def _property(value: Any, name: str) -> Any:
    if isinstance(value, Mapping):
        return cast("Mapping[str, Any]", value).get(name)
    if isinstance(value, list):
        items = cast("list[Any]", value)
        if name == "length":
            return len(items)
        return _item(items, int(name)) if name.isascii() and name.isdigit() and len(name) < 10 else None
    return None


def _item(value: Any, index: int) -> Any:
    if not isinstance(value, list):
        return None
    items = cast("list[Any]", value)
    return items[index] if index < len(items) else None


ToolState = Literal["pending", "in_progress", "completed", "failed"]

_ANYTHING = "*"
_KINDS = frozenset({"thought", "tool_call", "message", "plan"})
_ENDED_WELL = frozenset({"completed", "complete", "success", "succeeded", "ok", "done", "true"})
_ENDED_BADLY = frozenset(
    {
        "failed",
        "failure",
        "error",
        "errored",
        "false",
        "denied",
        "rejected",
        "declined",
        "cancelled",
        "canceled",
    }
)


@dataclass(frozen=True, slots=True)
class Update:
    """One event of the agent. ``content`` is None when the event has no text.

    ``tool``, ``state``, ``id``, ``arguments`` and ``result`` are those of a tool call; ``entries`` are those
    of a plan.
    """

    kind: Literal["thought", "tool_call", "message", "plan"]
    content: str | None = None
    tool: str = ""
    state: ToolState = "pending"
    id: str = ""
    arguments: Mapping[str, Any] | None = None
    result: str | None = None
    entries: Any = None


@dataclass(frozen=True, slots=True)
class Line:
    """The meaning of one line of output.

    ``answer`` is None unless the line ends the turn; ``failed`` says that the turn failed. ``usage`` holds
    numbers by the names of ``UsagePaths``.
    """

    updates: tuple[Update, ...] = ()
    session: str = ""
    answer: str | None = None
    failed: bool = False
    usage: Mapping[str, float] | None = None


def event_of(line: str) -> Any:
    """Return the JSON of a line, None if it is not JSON: programs print other things as well."""
    stripped = line.strip()
    if not stripped.startswith(("{", "[")):
        return None
    try:
        return json.loads(stripped)
    except (ValueError, RecursionError):
        return None


def read_event(adapter: AdapterFile, event: Any) -> Line:
    """Return the meaning of an event."""
    updates = tuple(_updates(adapter, event))
    result = adapter.result
    ends = result is not None and _equals(find(result.match_path, event), result.match_value)
    answer, failed = None, False
    if ends and result is not None:
        answer = find_text(result.content_path, event) or ""
        failed = _is_true(find(adapter.extensions.result_error_path, event))
    return Line(
        updates=updates,
        session=_session(adapter, event, mapped=bool(updates)),
        answer=answer,
        failed=failed,
        usage=_usage(adapter.extensions.usage, event, ends=ends),
    )


def _updates(adapter: AdapterFile, event: Any) -> Iterator[Update]:
    if adapter.output_mode == "passthrough" and adapter.passthrough_type_map is not None:
        yield from _passed_through(adapter, event)
        return
    found: list[tuple[int, Update]] = []
    for mapping in adapter.output_events:
        if mapping.when is not None and not _holds(mapping.when, event):
            continue
        found += _matches(adapter, mapping, event)
        if found and adapter.extensions.event_matching == "first":
            break
    # Several mappings over one list: the agent's order is that of the list, not that of the mappings.
    found.sort(key=lambda pair: pair[0])
    yield from (update for _, update in found)


def _matches(adapter: AdapterFile, mapping: EventMapping, event: Any) -> list[tuple[int, Update]]:
    value, wanted = find(mapping.match.path, event), mapping.match.value
    if isinstance(value, list):
        items = cast("list[Any]", value)
        return [
            (position, _update(adapter, mapping, item))
            for position, item in enumerate(items)
            if _item_matches(item, wanted)
        ]
    return [(0, _update(adapter, mapping, event))] if _equals(value, wanted) else []


def _item_matches(item: Any, wanted: str) -> bool:
    if wanted == _ANYTHING:
        return item is not None
    if isinstance(item, Mapping) and "type" in item:
        return cast("Mapping[str, Any]", item)["type"] == wanted
    return item == wanted


def _update(adapter: AdapterFile, mapping: EventMapping, source: Any) -> Update:
    extract = mapping.extract
    content = find_text(extract.content, source)
    if mapping.emit_as == "plan":
        return Update("plan", content, entries=find(extract.content, source))
    if mapping.emit_as != "tool_call":
        return Update(mapping.emit_as, content)
    identifier = extract.id or adapter.extensions.event_ids.get(mapping.match.value, "")
    failed = _is_true(find(extract.error, source))
    return Update(
        "tool_call",
        content,
        tool=find_text(extract.title, source) or "",
        state="failed" if failed else _state(find_text(extract.status, source)),
        id=find_text(identifier, source) or "",
        arguments=_arguments(find(extract.input, source)),
        result=_result(find(extract.output, source)),
    )


def _passed_through(adapter: AdapterFile, event: Any) -> Iterator[Update]:
    types = adapter.passthrough_type_map
    if not isinstance(event, Mapping) or types is None:
        return
    block = cast("Mapping[str, Any]", event)
    named = (
        find(types.type_field, block) if types.type_field.startswith("$.") else block.get(types.type_field)
    )
    if not isinstance(named, str):
        return
    kind = types.type_values.get(named, named)
    if kind not in _KINDS:
        return
    content = value_text(block.get("content")) if isinstance(block.get("content"), str) else None
    yield Update(
        cast("Literal['thought', 'tool_call', 'message', 'plan']", kind),
        content,
        tool=value_text(block.get("name")) or value_text(block.get("title")) or ""
        if kind == "tool_call"
        else "",
        state=_state(value_text(block.get("status"))),
        id=value_text(block.get("id")) or "" if kind == "tool_call" else "",
        arguments=_arguments(block.get("input")),
        result=_result(block.get("output")),
        entries=block.get("entries"),
    )


def _session(adapter: AdapterFile, event: Any, *, mapped: bool) -> str:
    """Return the session that an event names: by its path anywhere, by ``session_id`` in mapped events."""
    resume = adapter.resume
    if resume is not None and adapter.extensions.honor_session_id_path:
        found = find(resume.session_id_path, event)
        if isinstance(found, str | int) and not isinstance(found, bool) and found != "":
            return str(found)
    if mapped and isinstance(event, Mapping):
        named = cast("Mapping[str, Any]", event).get("session_id")
        return named if isinstance(named, str) else ""
    return ""


def _usage(paths: UsagePaths | None, event: Any, *, ends: bool) -> dict[str, float] | None:
    if paths is None or not (_holds(paths.match, event) if paths.match is not None else ends):
        return None
    found: dict[str, float] = {}
    for name in type(paths).model_fields:
        path = getattr(paths, name)
        value = find(path, event) if isinstance(path, str) and path else None
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15:
            found[name] = value
    return found or None


def _holds(condition: Condition, event: Any) -> bool:
    return _equals(find(condition.path, event), condition.value)


def _equals(value: Any, wanted: str) -> bool:
    """Compare strictly: the number 1 is never the string "1"."""
    if wanted == _ANYTHING:
        return value is not None
    return isinstance(value, str) and value == wanted


def _is_true(value: Any) -> bool:
    """Return whether a value means an error: anything but null, ``false`` and empty values."""
    return bool(value) and value != "false"


def _state(word: str | None) -> ToolState:
    lowered = (word or "").strip().lower()
    if lowered in _ENDED_WELL:
        return "completed"
    if lowered in _ENDED_BADLY:
        return "failed"
    return "in_progress" if lowered in ("in_progress", "running", "started") else "pending"


def _arguments(value: Any) -> Mapping[str, Any] | None:
    """Return the arguments of a call; some agents write them as JSON inside a string."""
    if isinstance(value, str):
        parsed = event_of(value)
        value = cast("Any", parsed) if isinstance(parsed, dict) else value
    if value is None:
        return None
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {"input": value}


def _result(value: Any) -> str | None:
    """Return the result of a call as a string; the text blocks of a list are joined."""
    if isinstance(value, list):
        items = cast("list[Any]", value)
        texts = [find("$.text", item) for item in items]
        if texts and all(isinstance(text, str) for text in texts):
            return value_text("\n".join(texts))
    return value_text(value)
