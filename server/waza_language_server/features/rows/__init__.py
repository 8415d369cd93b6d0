"""Prompts, captures and trials of agent-eval-harness in the editor."""
