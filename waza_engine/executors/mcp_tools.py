"""The tools of a request's MCP servers, for the model of the executor ``openai``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from waza_engine.executors.agent_tools import Tool, ToolOutcome
from waza_engine.executors.base import ExecutionRequest, ExecutorError

if TYPE_CHECKING:
    from waza_engine.executors.openai_turn import Brake
    from waza_engine.mcp.client import McpTools


def mcp_tools(request: ExecutionRequest, brake: Brake, deadline: float) -> list[Tool]:
    """Connect to the servers for one turn and return their tools; the brake ends the connections.

    Raises ``ExecutorError`` for a server that cannot be used: without its tools the answer means nothing.
    """
    if not request.mcp_servers:
        return []
    # The library takes a second to load, and few suites need it.
    from waza_engine.mcp.client import McpError, McpTools

    try:
        connected = McpTools(request.mcp_servers, request.workspace, brake.scope, deadline, brake.also)
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
