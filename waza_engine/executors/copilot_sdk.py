"""The executor ``copilot-sdk``: the GitHub Copilot agent, driven through its library.

One process of the agent serves a run, started with the first prompt; every trial is a session of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections import OrderedDict
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict, cast, get_args

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
from copilot.session_events import PermissionRequest, SessionEvent, SessionEventType
from copilot.tools import Tool, ToolInvocation, ToolResult

from waza_engine.counting import in_seconds
from waza_engine.executors.copilot.events import TurnRecord, usage_of_models, usage_since
from waza_engine.executors.copilot.runtime import CopilotProvider, Runtime, find_program, find_provider
from waza_engine.executors.executor import (
    Cancellation,
    ExecutionRequest,
    ExecutionResponse,
    Executor,
    ExecutorError,
    ExecutorSettings,
)
from waza_engine.executors.executor_types import register
from waza_engine.graders.judge import AgentTool
from waza_engine.mcp.event_loop import LoopThread
from waza_engine.spec.eval_config import Effort
from waza_engine.vocabulary import CANCELLED, ModelUsage, Usage, token_counts

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
        """Return the id by which the agent resumes the session."""
        return self.session.session_id

    async def usage_totals(self) -> Usage | None:
        """Return the usage of the session since it began, None if unknown."""
        try:
            metrics = await self.session.rpc.usage.get_metrics(timeout=_REQUEST_SECONDS)
        except Exception:  # noqa: BLE001 - whatever the library says, the turn itself is not lost
            return None
        models = {
            model: ModelUsage(
                **token_counts(spent.usage),
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
            found = self._open.get(request.session) or await self._resume_session(request)
        else:
            found = await self._open_session(request)
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
            await self._close_idle()

    async def _open_session(self, request: ExecutionRequest) -> OpenSession:
        options = self._options(request)
        with self._or_refuse("opened no session"):
            session = await self._client.create_session(on_permission_request=_allow, **options)
        return OpenSession(session, request.model, bool(request.tools))

    async def _resume_session(self, request: ExecutionRequest) -> OpenSession:
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

    async def _close_idle(self) -> None:
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
                    f"the provider at `{self._provider.host}` needs the name of a model; "
                    "write it in `config.model`"
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
    known = get_args(Effort)
    if written not in known:
        listed = ", ".join(f"`{each}`" for each in known)
        raise ExecutorError(f"`{written}` is no reasoning effort; write one of {listed}")
    return cast("Effort", written)


_STOP_SECONDS = 1.0
_ABORT_SECONDS = 1.5
_GRACE_SECONDS = 1.0
_DIED = "the Copilot agent ended in the middle of its work"


@register
class CopilotExecutor(Executor):
    """Executes prompts with the Copilot agent.

    Raises ``ExecutorError`` when the agent is not installed or its provider cannot be used. A missing login
    is only detected with the first prompt.
    """

    name = "copilot-sdk"
    has_model = True
    library = "github-copilot-sdk"

    def __init__(self, settings: ExecutorSettings) -> None:
        self._provider = find_provider(settings.config.provider)
        self._program = find_program()
        self._thread = LoopThread(self.name)
        self._closing = threading.Lock()
        self._closed = False
        self._under_way: set[Future[None]] = set()
        self._runtimes: list[Runtime] = []
        # Only used in the event loop.
        self._starting = asyncio.Lock()
        self._sessions: Sessions | None = None
        self._no_start: ExecutorError | None = None

    def execute(self, request: ExecutionRequest, cancellation: Cancellation) -> ExecutionResponse:
        """Execute one turn.

        The response has the agent's output and calls until it gave up, or reached its time limit. Raises
        ``ExecutorError`` when the agent cannot be used.
        """
        turn = _Turn(request, self._provider)
        done = self._thread.submit(self._execute(turn))
        self._under_way.add(done)

        def cancel() -> None:
            done.cancel()

        withdraw = cancellation.on_request(cancel)
        try:
            done.result()
        except CancelledError:
            turn.error = CANCELLED
        finally:
            withdraw()
            self._under_way.discard(done)
        return turn.response()

    def close(self) -> None:
        """End the agent with everything that it started; can be called twice and from any thread."""
        with self._closing:
            if self._closed:
                return
            self._closed = True
            for done in tuple(self._under_way):
                done.cancel()
            stopping = [self._thread.submit(runtime.stop()) for runtime in self._runtimes]
            for stopped in stopping:
                with contextlib.suppress(TimeoutError, CancelledError):
                    stopped.result(_STOP_SECONDS)
            self._thread.close()
            for runtime in self._runtimes:
                runtime.kill()

    async def _execute(self, turn: _Turn) -> None:
        request = turn.request
        try:
            async with asyncio.timeout(request.timeout_seconds):
                runtime, sessions = await self._running(request)
                async with asyncio.timeout(request.first_event_timeout_seconds or None) as silence:
                    await turn.execute(runtime, sessions, silence)
        except TimeoutError:
            if turn.begun.is_set() or not request.first_event_timeout_seconds:
                turn.error = f"the agent did not finish within {in_seconds(request.timeout_seconds)}"
            else:
                seconds = min(request.first_event_timeout_seconds, request.timeout_seconds)
                turn.error = f"the agent sent nothing within {in_seconds(seconds)}"

    async def _running(self, request: ExecutionRequest) -> tuple[Runtime, Sessions]:
        """Return the agent's process, started if need be. Raises ``ExecutorError``."""
        async with self._starting:
            if self._no_start is not None:
                raise ExecutorError(str(self._no_start))
            if self._sessions is None or self._runtimes[-1].died.is_set():
                runtime = Runtime(self._program, self._provider, request.commands)
                self._runtimes.append(runtime)
                try:
                    await runtime.start()
                except ExecutorError as error:
                    self._no_start = error
                    raise
                self._sessions = Sessions(runtime.client, self._provider)
            return self._runtimes[-1], self._sessions


class _Turn:
    """One prompt and its result. Lives in the event loop; ``response`` may be read from outside."""

    def __init__(self, request: ExecutionRequest, provider: CopilotProvider | None) -> None:
        self.request = request
        self.error = ""
        self.begun = asyncio.Event()
        self._provider = provider
        self._record = TurnRecord(request.on_tool_call, request.on_answer)
        self._session = request.session or ""
        self._totals: Usage | None = None
        self._over = asyncio.Event()
        self._idle = asyncio.Event()

    def response(self) -> ExecutionResponse:
        """Return the response so far."""
        record = self._record
        usage = record.usage(self._totals)
        if self._provider is not None:
            usage = replace(usage, provider="custom", provider_host=self._provider.host)
        return ExecutionResponse(
            output=record.output,
            session="" if self.request.ephemeral else self._session,
            events=tuple(record.events),
            tool_calls=record.tool_calls,
            skill_invocations=tuple(record.skill_invocations),
            usage=usage,
            error=self.error or None,
        )

    async def execute(self, runtime: Runtime, sessions: Sessions, silence: asyncio.Timeout) -> None:
        """Send the prompt and wait until the agent is idle. ``silence`` ends with its first event.

        Raises ``ExecutorError`` when there is no session for it.
        """
        async with sessions.using(self.request) as found:
            self._session = found.id
            withdraw = found.session.on(self._handle)
            try:
                await self._converse(found.session, runtime, silence)
            finally:
                if not runtime.died.is_set():
                    if not self._idle.is_set():
                        await self._interrupt(found.session)
                    await self._settle(found)
                withdraw()

    async def _converse(self, session: CopilotSession, runtime: Runtime, silence: asyncio.Timeout) -> None:
        try:
            await session.send(self.request.prompt)
        except Exception as error:  # noqa: BLE001 - whatever the library raises, what came so far is kept
            if not runtime.died.is_set():
                await _first_of(runtime.died, seconds=_GRACE_SECONDS)
            self.error = _DIED if runtime.died.is_set() else f"the agent takes no prompt: {error}"
            return
        await _first_of(self.begun, runtime.died)
        silence.reschedule(None)
        await _first_of(self._over, runtime.died)
        if self._record.error:
            # The agent reports details of its failure immediately.
            await _first_of(self._idle, runtime.died, seconds=_GRACE_SECONDS)
            self.error = self._error_message()
        elif runtime.died.is_set() and not self._over.is_set():
            self.error = _DIED
        else:
            self.error = self._broken_server()

    def _handle(self, event: SessionEvent) -> None:
        self.begun.set()
        if event.type is SessionEventType.UNKNOWN:
            return
        document = cast("Any", event).to_dict()
        self._record.add(str(document["type"]), document.get("data") or {}, event.agent_id or "")
        if self._record.idle:
            self._idle.set()
        stops = self.request.stops_after(self._record.skill_invocations)
        if self._record.idle or self._record.error or stops:
            self._over.set()

    async def _interrupt(self, session: CopilotSession) -> None:
        """Make the agent stop, so that it does not go on in a workspace that is being graded."""
        with contextlib.suppress(Exception):
            async with asyncio.timeout(_ABORT_SECONDS):
                await session.abort()
                await self._idle.wait()

    async def _settle(self, found: OpenSession) -> None:
        totals = await found.usage_totals()
        if totals is not None:
            self._totals = usage_since(found.counted, totals)
            found.counted = totals

    def _broken_server(self) -> str:
        """Return which server did not start: the agent goes on without its tools and does not report it."""
        broken = self._record.broken_servers
        name = next((name for name in self.request.mcp_servers if name in broken), None)
        if name is None:
            return ""
        why = " ".join(broken[name].split()).rstrip(".") or "the agent does not say why"
        return f"the MCP server `{name}` did not start: {why}"

    def _error_message(self) -> str:
        record, provider = self._record, self._provider
        if provider is not None and record.status_code in (401, 403):
            message = f"the provider at `{provider.host}` refused the key (HTTP {record.status_code})"
            variable = provider.key_variable
            return (
                f"{message}; check `{variable}`"
                if variable
                else f"{message}; name it in `provider.api_key_env`"
            )
        return f"the agent gave up: {' '.join(record.error.split()).rstrip('.')}"


async def _first_of(*events: asyncio.Event, seconds: float | None = None) -> None:
    waiting = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waiting:
            wait.cancel()
