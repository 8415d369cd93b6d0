"""The agent's inputs besides the prompt: workspace, repositories, skills, instructions, MCP servers."""
