"""The terminal commands: their names, their output, and their exit codes."""
