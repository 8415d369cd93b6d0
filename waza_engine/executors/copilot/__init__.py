"""The GitHub Copilot agent, used through its library: the parts of ``copilot_sdk``."""
