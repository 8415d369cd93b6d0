"""MCP servers of a run: their configuration, their mocks, and a client."""

MOCK_COMMAND = "mcp-mock"
"""The hidden command with which an agent starts a mock."""
