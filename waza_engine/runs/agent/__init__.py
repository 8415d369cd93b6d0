"""What the agent is given besides the prompt: workspace, repositories, skills, instructions, servers."""
