"""The mock executor: it answers immediately, without an agent, a key or a cost, and calls no tools.

Its answer repeats its input, exactly as upstream's mock does, so suites can be tried out and compared.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any, cast

from waza_engine.executors.executor import (
    Cancellation,
    ExecutionRequest,
    ExecutionResponse,
    Executor,
    ExecutorSettings,
    WorkspaceFile,
)
from waza_engine.executors.executor_types import register
from waza_engine.files import decoded, read_beginning

_SHOWN_BYTES = 1024


@register
class MockExecutor(Executor):
    """Answers ``Mock response for: <prompt>`` and the data of the task."""

    name = "mock"
    answers_triggers = True
    costs = False

    def __init__(self, settings: ExecutorSettings | None = None) -> None:
        del settings
        self._sessions = itertools.count(1)

    def execute(self, request: ExecutionRequest, cancellation: Cancellation) -> ExecutionResponse:
        """Return the answer."""
        del cancellation
        session = request.session or f"mock-session-{next(self._sessions)}"
        return ExecutionResponse(output="\n".join(_lines(request)), session=session)

    def close(self) -> None:
        """Do nothing: nothing was started."""


def _lines(request: ExecutionRequest) -> Iterator[str]:
    yield f"Mock response for: {request.prompt}"
    if request.task_name:
        yield f"Task: {request.task_name}"
    if request.task_description:
        yield f"Description: {request.task_description}"
    if request.context:
        yield "Context:"
        yield from (f"  {key}: {_as_go_prints(value)}" for key, value in request.context.items())
    if request.files:
        yield f"Analyzed {len(request.files)} file(s):"
        for file in request.files:
            yield f"  - {file.path}"
            yield _beginning(file)


def _beginning(file: WorkspaceFile) -> str:
    try:
        beginning = read_beginning(file.place, _SHOWN_BYTES + 1)
    except OSError:
        return ""
    text = decoded(beginning[:_SHOWN_BYTES])
    return text + "...(truncated)" if len(beginning) > _SHOWN_BYTES else text


def _as_go_prints(value: Any) -> str:
    """Return a context value as upstream prints it: ``[a b]``, ``map[k:v]``, ``true``."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return "true" if value else "false"
        case float():
            return str(int(value)) if value.is_integer() and abs(value) < 1e21 else repr(value)
        case Mapping():
            items = sorted(cast("Mapping[str, Any]", value).items())
            return "map[" + " ".join(f"{key}:{_as_go_prints(item)}" for key, item in items) + "]"
        case list() | tuple():
            return "[" + " ".join(_as_go_prints(item) for item in cast("list[Any]", value)) + "]"
        case _:
            return str(value)
