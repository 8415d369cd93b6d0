"""A language server for waza evaluation suites."""
