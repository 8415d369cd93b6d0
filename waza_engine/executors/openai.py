"""The executor ``openai``: a model on any server with OpenAI's chat completions.

There is no agent, only the model; the tools that it may call are executed here (``workspace_tools``, skills,
tools of judges). docs/executors.md lists the differences from an agent.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import openai

from waza_engine.executors.chat.agent_tools import Tool, ToolOutcome, skill_folders, skill_tools
from waza_engine.executors.chat.chat_requests import Connection, clean
from waza_engine.executors.chat.chat_turn import Brake, StoppedTurn, Turn
from waza_engine.executors.chat.errors import KEY_VARIABLE, find_endpoint, never_connected, no_connection
from waza_engine.executors.chat.workspace_tools import Surroundings, workspace_tools
from waza_engine.executors.executor import (
    Cancellation,
    ExecutionRequest,
    ExecutionResponse,
    Executor,
    ExecutorError,
    ExecutorSettings,
    environment_with,
)
from waza_engine.executors.executor_types import register
from waza_engine.graders.judge import AgentTool
from waza_engine.mcp.mocks import MockError, MockServer, mock_behind, steps_folder
from waza_engine.mcp.servers import tool_display_name
from waza_engine.peers.proxies import network_fault
from waza_engine.vocabulary import CANCELLED

if TYPE_CHECKING:
    from waza_engine.mcp.mcp_client import McpTools


SECONDS = 5.0


def check_endpoint(connection: Connection) -> None:
    """Return if the server answers at all, unless it rejects the key.

    Servers need not have such a list, and keys may be too narrow for it. Raises ``ExecutorError``.
    """
    endpoint = connection.endpoint
    try:
        connection.probe(SECONDS)
    except openai.AuthenticationError as error:
        if endpoint.key and "scope" not in error.response.text:
            host, variable = f"`{endpoint.host}`", endpoint.key_variable
            raise ExecutorError(f"{host} does not accept the key in `{variable}`") from None
    except Exception as error:  # noqa: BLE001 - it may be slow, or know one address only: the first call tells
        if never_connected(error):
            raise ExecutorError(str(no_connection(error, endpoint)), transient=True) from None


def mcp_tools(request: ExecutionRequest, brake: Brake, deadline: float) -> list[Tool]:
    """Connect to the servers for one turn and return their tools; the brake ends the connections.

    Mocks are called without a server. Raises ``ExecutorError`` for a server that cannot be used: without its
    tools the answer means nothing.
    """
    tools: list[Tool] = []
    servers: dict[str, Mapping[str, Any]] = {}
    for name, server in request.mcp_servers.items():
        mock = mock_behind(server)
        if mock is None:
            servers[name] = server
        else:
            taken = steps_folder(mock[1], request.workspace / request.workdir)
            tools += _tools_of_mock(name, mock[0], taken)
    return [*tools, *_tools_of_servers(servers, request, brake, deadline)] if servers else tools


def _tools_of_mock(name: str, mock: MockServer, taken: Path) -> list[Tool]:
    return [
        Tool(tool_display_name(name, tool), made.description, made.input_schema, _asking(mock, tool, taken))
        for tool, made in mock.tools.items()
    ]


def _asking(mock: MockServer, tool: str, taken: Path) -> Callable[[Mapping[str, Any]], ToolOutcome]:
    def call(arguments: Mapping[str, Any]) -> ToolOutcome:
        try:
            return ToolOutcome(mock.answer(tool, arguments, taken))
        except MockError as error:
            return ToolOutcome(str(error), success=False)

    return call


def _tools_of_servers(
    servers: Mapping[str, Mapping[str, Any]], request: ExecutionRequest, brake: Brake, deadline: float
) -> list[Tool]:
    # The library takes a second to load, and few suites need it.
    from waza_engine.mcp.mcp_client import McpError, McpTools

    try:
        connected = McpTools(servers, request.workspace, brake.scope, deadline, brake.also)
    except McpError as error:
        raise ExecutorError(str(error)) from None
    return [
        Tool(name, description, parameters, _calling(connected, name))
        for name, description, parameters in connected.listed()
    ]


def _calling(connected: McpTools, name: str) -> Callable[[Mapping[str, Any]], ToolOutcome]:
    def call(arguments: Mapping[str, Any]) -> ToolOutcome:
        result = connected.call(name, arguments)
        return ToolOutcome(result.text, success=not result.failed)

    return call


@register
class OpenAIExecutor(Executor):
    """Talks to a model; conversations are kept in memory until the executor is closed.

    Raises ``ExecutorError`` when no server is configured, or no key for it.
    """

    name = "openai"
    has_model = True
    library = "openai"

    def __init__(self, settings: ExecutorSettings) -> None:
        if fault := network_fault():
            raise ExecutorError(fault, remediation="correct the environment")
        self._allowed = settings.config.workspace_tools
        self._connection = Connection(find_endpoint(settings.config.provider))
        self._lock = threading.Lock()
        self._sessions: dict[str, list[dict[str, Any]]] = {}
        self._brakes: set[Brake] = set()
        self._closed = False

    def execute(self, request: ExecutionRequest, cancellation: Cancellation) -> ExecutionResponse:
        """Execute one turn.

        An ephemeral turn leaves no trace: its session is gone, one that it continued is as it was before.
        Raises ``ExecutorError`` when the model has not answered at all.
        """
        if not request.model:
            raise ExecutorError("the executor `openai` needs to know the model; write `model` below `config`")
        messages = self._conversation(request)
        session = request.session or f"openai-{uuid4().hex[:12]}"
        deadline = time.monotonic() + request.timeout_seconds
        with self._stoppable(cancellation) as brake:
            tools = self._tools(request, brake, deadline)
            turn = Turn(self._connection, request, messages, tools, brake, deadline)
            try:
                turn.run()
                return turn.response(session)
            except ExecutorError as error:
                if not turn.answered:
                    raise
                return turn.response(session, str(error), transient=error.transient)
            except StoppedTurn:
                return turn.response(session, CANCELLED)
            finally:
                with self._lock:
                    if turn.answered and not (request.ephemeral or self._closed):
                        self._sessions[session] = turn.messages

    def reach(self) -> None:
        """Find out whether the server answers and takes the key. Raises ``ExecutorError``."""
        check_endpoint(self._connection)

    def close(self) -> None:
        """Break off every turn and forget every conversation."""
        with self._lock:
            self._closed = True
            brakes = list(self._brakes)
            self._sessions.clear()
        for brake in brakes:
            brake.stop()
        self._connection.close()

    @contextmanager
    def _stoppable(self, cancellation: Cancellation) -> Generator[Brake]:
        """Give the brake of a turn: pulled when the run is cancelled, and when the turn is over."""
        brake = Brake()
        with self._lock:
            if self._closed:
                raise ExecutorError("the executor `openai` has ended already")
            self._brakes.add(brake)
        withdraw = cancellation.on_request(brake.stop)
        try:
            yield brake
        finally:
            withdraw()
            brake.stop()
            with self._lock:
                self._brakes.discard(brake)

    def _conversation(self, request: ExecutionRequest) -> list[dict[str, Any]]:
        """Return the messages so far, the system message first."""
        with self._lock:
            kept = None if request.session is None else self._sessions.get(request.session)
        if request.session is not None and kept is None:
            raise ExecutorError(f"there is no conversation `{request.session}` to continue")
        messages = list(kept or ())
        system = _system_message(request, with_tools=bool(self._allowed))
        if not system:
            return messages
        return [system, *(message for message in messages if message["role"] != "system")]

    def _tools(self, request: ExecutionRequest, brake: Brake, deadline: float) -> list[Tool]:
        surroundings = Surroundings(
            workspace=request.workspace,
            start=request.workspace / request.workdir,
            scope=brake.scope,
            deadline=deadline,
            readable=skill_folders(request.skill_directories),
            secrets=(KEY_VARIABLE, self._connection.endpoint.key_variable),
            environment=environment_with(request.commands, os.environ),
        )
        tools = [
            *(_as_tool(tool) for tool in request.tools),
            *workspace_tools(self._allowed, surroundings),
            *mcp_tools(request, brake, deadline),
            *skill_tools(request.skill_directories),
        ]
        # A tool of the caller hides a tool of ours with the same name.
        return list({tool.name: tool for tool in reversed(tools)}.values())[::-1]


def _system_message(request: ExecutionRequest, *, with_tools: bool) -> dict[str, Any] | None:
    """Return the system message, None for a follow-up without new instructions: its conversation has one."""
    parts = [clean(request.instructions)] if request.instructions else []
    if with_tools and (parts or request.session is None):
        place = request.workspace / request.workdir
        parts.append(f"You work in the directory {place}; relative paths start there.")
    return {"role": "system", "content": "\n\n".join(parts)} if parts else None


def _as_tool(tool: AgentTool) -> Tool:
    def call(arguments: Mapping[str, Any]) -> ToolOutcome:
        return ToolOutcome(tool.call(arguments))

    return Tool(tool.name, tool.description, tool.parameters, call)
