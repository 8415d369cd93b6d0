"""The executor ``copilot-sdk``: the GitHub Copilot agent, driven through its library.

One process of the agent serves a run, started with the first prompt; every trial is a session of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from concurrent.futures import CancelledError, Future
from dataclasses import replace
from typing import Any, cast

from copilot.session import CopilotSession
from copilot.session_events import SessionEvent, SessionEventType

from waza_engine.counting import in_seconds
from waza_engine.executors.base import (
    Cancellation,
    ExecutionRequest,
    ExecutionResponse,
    ExecutorError,
    ExecutorSettings,
)
from waza_engine.executors.copilot.events import TurnRecord, usage_since
from waza_engine.executors.copilot.runtime import CopilotProvider, Runtime, find_program, find_provider
from waza_engine.executors.copilot.sessions import OpenSession, Sessions
from waza_engine.executors.registry import register
from waza_engine.mcp.event_loop import LoopThread
from waza_engine.vocabulary import CANCELLED, Usage

_STOP_SECONDS = 1.0
_ABORT_SECONDS = 1.5
_GRACE_SECONDS = 1.0
_DIED = "the Copilot agent ended in the middle of its work"


@register
class CopilotExecutor:
    """Executes prompts with the Copilot agent.

    Raises ``ExecutorError`` when the agent is not installed or its provider cannot be used. A missing login
    is only detected with the first prompt.
    """

    name = "copilot-sdk"
    answers_triggers = False
    has_model = True
    costs = True
    reports_cost = False
    library = "github-copilot-sdk"
    warnings: tuple[str, ...] = ()

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
        done = self._thread.submit(self._carry_out(turn))
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

    async def _carry_out(self, turn: _Turn) -> None:
        request = turn.request
        try:
            async with asyncio.timeout(request.timeout_seconds):
                runtime, sessions = await self._running(request)
                async with asyncio.timeout(request.first_event_timeout_seconds or None) as silence:
                    await turn.carry_out(runtime, sessions, silence)
        except TimeoutError:
            if turn.heard.is_set() or not request.first_event_timeout_seconds:
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
        self.heard = asyncio.Event()
        self._provider = provider
        self._record = TurnRecord(request.watch, request.paid)
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

    async def carry_out(self, runtime: Runtime, sessions: Sessions, silence: asyncio.Timeout) -> None:
        """Send the prompt and wait until the agent is idle. ``silence`` ends with its first event.

        Raises ``ExecutorError`` when there is no session for it.
        """
        async with sessions.using(self.request) as found:
            self._session = found.id
            withdraw = found.session.on(self._hear)
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
        await _first_of(self.heard, runtime.died)
        silence.reschedule(None)
        await _first_of(self._over, runtime.died)
        if self._record.error:
            # The agent reports details of its failure immediately.
            await _first_of(self._idle, runtime.died, seconds=_GRACE_SECONDS)
            self.error = self._told_error()
        elif runtime.died.is_set() and not self._over.is_set():
            self.error = _DIED
        else:
            self.error = self._broken_server()

    def _hear(self, event: SessionEvent) -> None:
        self.heard.set()
        if event.type is SessionEventType.UNKNOWN:
            return
        told = cast("Any", event).to_dict()
        self._record.add(str(told["type"]), told.get("data") or {}, event.agent_id or "")
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

    def _told_error(self) -> str:
        record, provider = self._record, self._provider
        if provider is not None and record.status_code in (401, 403):
            told = f"the provider at `{provider.host}` refused the key (HTTP {record.status_code})"
            variable = provider.key_variable
            return f"{told}; check `{variable}`" if variable else f"{told}; name it in `provider.api_key_env`"
        return f"the agent gave up: {' '.join(record.error.split()).rstrip('.')}"


async def _first_of(*events: asyncio.Event, seconds: float | None = None) -> None:
    waiting = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waiting:
            wait.cancel()
