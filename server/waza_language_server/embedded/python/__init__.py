"""Assertions of ``code`` graders: Python, read and never run."""
