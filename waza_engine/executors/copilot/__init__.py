"""The GitHub Copilot agent behind its library: the parts of ``copilot_sdk``."""
