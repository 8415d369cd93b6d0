"""Assertions of ``code`` graders: Python, parsed and never run."""
