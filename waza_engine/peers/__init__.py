"""What model providers and MCP servers send: read here alone, with one bound on its size."""
