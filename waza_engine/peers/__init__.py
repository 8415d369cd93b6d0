"""Messages of model providers and MCP servers: read here alone, with one bound on their size."""
