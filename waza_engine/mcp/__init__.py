"""MCP servers of a run: their configuration, the mocks that stand for them, and a client."""

MOCK_COMMAND = "mcp-mock"
"""The hidden command with which an agent starts a mock."""
