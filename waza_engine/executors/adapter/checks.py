"""Warnings about parts of an adapter file without effect."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from waza_engine.executors.adapter.paths import is_path
from waza_engine.spec.adapter import AdapterFile


def adapter_warnings(path: Path, adapter: AdapterFile, model: str) -> Iterator[str]:
    """Yield warnings about parts of an adapter file without effect, one sentence each."""
    for place, written in _paths(adapter):
        if written and not is_path(written):
            yield f"{path}: {place} is `{written}`, which leads nowhere; a path starts with `$.`"
    if adapter.extensions.event_matching == "first":
        seen: list[tuple[str, str]] = []
        for position, mapping in enumerate(adapter.output_events):
            key = (mapping.match.path, mapping.match.value)
            if mapping.when is None and (key in seen or (key[0], "*") in seen):
                place = f"`outputEvents[{position}]`"
                yield f"{path}: {place} has no effect: one before it fits the same events"
            if mapping.when is None:
                seen.append(key)
    if model and not adapter.extensions.model_flag:
        yield f"{path}: `config.model` has no effect: there is no `model_flag` in `x-waza`"
    if adapter.prompt.stdin_format == "json":
        yield f"{path}: `prompt.stdinFormat` has no effect: the prompt is sent as text"


def tells_tool_calls(adapter: AdapterFile) -> bool:
    """Return whether an adapter's events report tool calls."""
    if adapter.extensions.output_mode == "text":
        return False
    passes_on = adapter.output_mode == "passthrough" and adapter.passthrough_type_map is not None
    return passes_on or any(mapping.emit_as == "tool_call" for mapping in adapter.output_events)


def _paths(adapter: AdapterFile) -> Iterator[tuple[str, str]]:
    for position, mapping in enumerate(adapter.output_events):
        where = f"outputEvents[{position}]"
        yield f"`{where}.match.path`", mapping.match.path
        if mapping.when is not None:
            yield f"`{where}.when.path`", mapping.when.path
        for name in type(mapping.extract).model_fields:
            yield f"`{where}.extract.{name}`", getattr(mapping.extract, name)
    if adapter.resume is not None and adapter.extensions.honor_session_id_path:
        yield "`resume.sessionIdPath`", adapter.resume.session_id_path
    if adapter.result is not None:
        yield "`result.matchPath`", adapter.result.match_path
        yield "`result.contentPath`", adapter.result.content_path
