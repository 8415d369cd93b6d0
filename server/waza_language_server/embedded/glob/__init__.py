"""Globs of task files."""
