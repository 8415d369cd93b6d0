"""MCP servers of a run: their configuration, the mocks that stand for them, and a client."""
