"""The sessions of the Copilot agent: opened for a prompt, continued, put aside, deleted."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections import OrderedDict
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict, cast

from copilot import CopilotClient
from copilot.generated.rpc import PermissionDecisionReject
from copilot.session import (
    CopilotSession,
    MCPHTTPServerConfig,
    MCPServerConfig,
    MCPStdioServerConfig,
    PermissionHandler,
    PermissionInvocation,
    PermissionRequestResult,
    ProviderConfig,
    SystemMessageAppendConfig,
)
from copilot.session_events import PermissionRequest
from copilot.tools import Tool, ToolInvocation, ToolResult

from waza_engine.executors.base import ExecutionRequest, ExecutorError
from waza_engine.executors.copilot.events import usage_of_models
from waza_engine.executors.copilot.runtime import CopilotProvider
from waza_engine.graders.judging.judge import AgentTool
from waza_engine.vocabulary import ModelUsage, Usage

Effort = Literal["low", "medium", "high", "xhigh", "max"]
_EFFORTS: tuple[Effort, ...] = ("low", "medium", "high", "xhigh", "max")
# Each open session keeps its shells and MCP servers; one that was put aside is read from the disk again.
_MOST_IDLE = 16
_REQUEST_SECONDS = 1.0


class _Options(TypedDict, total=False):
    """The shared options of opening and continuing a session."""

    model: str
    provider: ProviderConfig
    reasoning_effort: Effort
    working_directory: str
    skill_directories: list[str]
    system_message: SystemMessageAppendConfig
    mcp_servers: dict[str, MCPServerConfig]
    tools: list[Tool]
    enable_session_telemetry: bool


@dataclass(slots=True)
class OpenSession:
    """A session that is open; one turn at a time. ``counted`` is its usage before the turn."""

    session: CopilotSession
    model: str
    has_tools: bool
    counted: Usage = field(default_factory=Usage)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def id(self) -> str:
        """The name under which the agent continues it."""
        return self.session.session_id

    async def usage_totals(self) -> Usage | None:
        """Return the usage of the session since it began, None if unknown."""
        try:
            metrics = await self.session.rpc.usage.get_metrics(timeout=_REQUEST_SECONDS)
        except Exception:  # noqa: BLE001 - whatever the library says, the turn itself is not lost
            return None
        models = {
            model: ModelUsage(
                input_tokens=spent.usage.input_tokens,
                output_tokens=spent.usage.output_tokens,
                cache_read_tokens=spent.usage.cache_read_tokens,
                cache_write_tokens=spent.usage.cache_write_tokens,
                request_count=spent.requests.count,
                request_cost=spent.requests.cost,
            )
            for model, spent in metrics.model_metrics.items()
        }
        return usage_of_models(models, metrics.total_premium_request_cost)


class Sessions:
    """The sessions of one runtime process. Lives in its event loop."""

    def __init__(self, client: CopilotClient, provider: CopilotProvider | None) -> None:
        self._client = client
        self._provider = provider
        self._open: OrderedDict[str, OpenSession] = OrderedDict()

    @asynccontextmanager
    async def using(self, request: ExecutionRequest) -> AsyncGenerator[OpenSession]:
        """Hold the session of a request during its turn. Raises ``ExecutorError``."""
        if request.session:
            found = self._open.get(request.session) or await self._continued(request)
        else:
            found = await self._opened(request)
        self._open.setdefault(found.id, found)
        try:
            async with found.lock:
                self._open.move_to_end(found.id)
                if request.session:
                    await self._adapt(found, request)
                yield found
        finally:
            if request.ephemeral and not request.session:
                await self._delete(found)
            await self._put_aside()

    async def _opened(self, request: ExecutionRequest) -> OpenSession:
        options = self._options(request)
        with self._or_refuse("opened no session"):
            session = await self._client.create_session(on_permission_request=_allow, **options)
        return OpenSession(session, request.model, bool(request.tools))

    async def _continued(self, request: ExecutionRequest) -> OpenSession:
        options = self._options(request)
        name = request.session or ""
        with self._or_refuse(f"cannot continue the session `{name}`"):
            session = await self._client.resume_session(name, on_permission_request=_allow, **options)
        found = OpenSession(session, request.model, bool(request.tools))
        found.counted = await found.usage_totals() or Usage()
        return found

    async def _adapt(self, found: OpenSession, request: ExecutionRequest) -> None:
        """Give a session the tools and the model of its next turn."""
        with self._or_refuse("cannot go on"):
            if request.tools or found.has_tools:
                await found.session.set_tools(_tools(request.tools))
                found.has_tools = bool(request.tools)
            if request.model and request.model != found.model:
                await found.session.set_model(request.model)
                found.model = request.model

    async def _delete(self, found: OpenSession) -> None:
        self._open.pop(found.id, None)
        with contextlib.suppress(Exception):
            await asyncio.wait_for(self._client.delete_session(found.id), _REQUEST_SECONDS)

    async def _put_aside(self) -> None:
        idle = [found for found in self._open.values() if not found.lock.locked()]
        for found in idle[: max(0, len(idle) - _MOST_IDLE)]:
            self._open.pop(found.id, None)
            with contextlib.suppress(Exception):
                await asyncio.wait_for(found.session.disconnect(), _REQUEST_SECONDS)

    def _options(self, request: ExecutionRequest) -> _Options:
        folder = request.workspace / request.workdir
        if not folder.is_dir():
            raise ExecutorError(f"the working directory `{request.workdir}` is not in the workspace")
        options = _Options(
            working_directory=str(folder),
            skill_directories=[str(place) for place in request.skill_directories],
            tools=_tools(request.tools),
            enable_session_telemetry=False,
        )
        model = request.model or os.environ.get("COPILOT_MODEL", "").strip()
        if model:
            options["model"] = model
        if self._provider is not None:
            if not model and not self._provider.names_model:
                raise ExecutorError(
                    f"the provider at `{self._provider.host}` must be told which model to run; "
                    "name it in `config.model`"
                )
            options["provider"] = self._provider.config
        if request.reasoning_effort:
            options["reasoning_effort"] = _effort(request.reasoning_effort)
        if request.instructions:
            options["system_message"] = SystemMessageAppendConfig(mode="append", content=request.instructions)
        if request.mcp_servers:
            options["mcp_servers"] = {
                name: server
                for name, written in request.mcp_servers.items()
                if (server := _mcp_server(written)) is not None
            }
        return options

    @contextlib.contextmanager
    def _or_refuse(self, what: str) -> Generator[None]:
        try:
            yield
        except Exception as error:  # noqa: BLE001 - the library raises many kinds
            text = " ".join((str(error) or type(error).__name__).split()).rstrip(".")
            raise ExecutorError(f"the Copilot agent {what}: {text}") from None


def _allow(request: PermissionRequest, invocation: PermissionInvocation) -> PermissionRequestResult:
    """Allow everything, as an evaluation must; requests that only a person may allow are rejected."""
    if invocation.get("managed_settings_enabled") or getattr(request, "managed_approval_required", False):
        return PermissionDecisionReject(feedback="Your organisation wants a person to allow this.")
    return PermissionHandler.approve_all(request, invocation)


def _tools(tools: Sequence[AgentTool]) -> list[Tool]:
    one_at_a_time = asyncio.Lock()
    return [_tool(tool, one_at_a_time) for tool in tools]


def _tool(tool: AgentTool, one_at_a_time: asyncio.Lock) -> Tool:
    async def handle(invocation: ToolInvocation) -> ToolResult:
        given: object = invocation.arguments
        arguments: Mapping[str, Any] = cast("Any", given) if isinstance(given, Mapping) else {}
        async with one_at_a_time:
            return ToolResult(text_result_for_llm=await asyncio.to_thread(tool.call, arguments))

    return Tool(
        name=tool.name,
        description=tool.description,
        handler=handle,
        parameters=dict(tool.parameters),
        overrides_built_in_tool=True,
        skip_permission=True,
    )


def _mcp_server(written: Mapping[str, Any]) -> MCPServerConfig | None:
    """Return a server as the library's type, None for a type that the agent does not know.

    A suite that names no ``tools`` means all of them, one with an empty list none.
    """
    kind = str(written.get("type") or "stdio")
    listed = written.get("tools")
    tools = ["*"] if listed is None else [str(name) for name in cast("Sequence[object]", listed)]
    timeout = written.get("timeout")
    if kind in ("stdio", "local"):
        local = MCPStdioServerConfig(
            type="stdio",
            tools=tools,
            command=str(written.get("command", "")),
            args=[str(part) for part in cast("Sequence[object]", written.get("args") or ())],
            env=_texts(written.get("env")),
        )
        folder = written.get("cwd") or written.get("working_directory")
        if folder:
            local["working_directory"] = str(folder)
        if isinstance(timeout, int):
            local["timeout"] = timeout
        return local
    if kind in ("http", "sse"):
        remote = MCPHTTPServerConfig(
            type="sse" if kind == "sse" else "http",
            tools=tools,
            url=str(written.get("url", "")),
            headers=_texts(written.get("headers")),
        )
        if isinstance(timeout, int):
            remote["timeout"] = timeout
        return remote
    return None


def _texts(value: object) -> dict[str, str]:
    if not isinstance(value, Mapping):
        return {}
    return {str(key): str(item) for key, item in cast("Mapping[object, object]", value).items()}


def _effort(written: str) -> Effort:
    for known in _EFFORTS:
        if known == written:
            return known
    raise ExecutorError(
        f"`{written}` is no reasoning effort; write one of {', '.join(f'`{known}`' for known in _EFFORTS)}"
    )
