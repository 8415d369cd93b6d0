"""The process of an MCP mock: ``python -m waza_engine mcp-mock FILE`` answers on its standard streams."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import mcp_types
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from waza_engine.mcp.mocks import MockError, MockServer, read_mock, steps_folder
from waza_engine.terminal import complain
from waza_engine.version import __version__


def serve_mock(arguments: list[str]) -> None:
    """Serve the mock in a file until the agent closes the connection; exit with 2 if it does not exist."""
    try:
        file = Path(arguments[0])
        mock = read_mock(file)
    except (IndexError, OSError, ValueError, msgspec.ValidationError):
        complain("mcp-mock: the file of the mock cannot be read; a run writes it for its agent")
        sys.exit(2)
    anyio.run(_serve, mock, steps_folder(file, Path.cwd()))


async def _serve(mock: MockServer, taken: Path) -> None:
    async def list_tools(
        context: ServerRequestContext[Any], parameters: mcp_types.PaginatedRequestParams | None
    ) -> mcp_types.ListToolsResult:
        del context, parameters
        return mcp_types.ListToolsResult(
            tools=[
                mcp_types.Tool(
                    name=name,
                    description=tool.description,
                    input_schema=json.loads(json.dumps(tool.input_schema)),
                )
                for name, tool in mock.tools.items()
            ]
        )

    async def call_tool(
        context: ServerRequestContext[Any], parameters: mcp_types.CallToolRequestParams
    ) -> mcp_types.CallToolResult:
        del context
        try:
            text, failed = mock.answer(parameters.name, parameters.arguments or {}, taken), False
        except MockError as error:
            text, failed = str(error), True
        content: list[mcp_types.ContentBlock] = [mcp_types.TextContent(type="text", text=text)]
        return mcp_types.CallToolResult(content=content, is_error=failed)

    server = Server(mock.name, version=__version__, on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
