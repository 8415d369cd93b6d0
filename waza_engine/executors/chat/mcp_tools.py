"""The tools of a request's MCP servers, for the model of the executor ``openai``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from waza_engine.executors.base import ExecutionRequest, ExecutorError
from waza_engine.executors.chat.agent_tools import Tool, ToolOutcome
from waza_engine.mcp.mocks import MockError, MockServer, mock_behind, steps_folder
from waza_engine.mcp.servers import shown_name

if TYPE_CHECKING:
    from waza_engine.executors.chat.turn import Brake
    from waza_engine.mcp.client import McpTools


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
        Tool(shown_name(name, tool), made.description, made.input_schema, _asking(mock, tool, taken))
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
    from waza_engine.mcp.client import McpError, McpTools

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
