"""Judging by a model: its prompt, its reply, and rubrics."""
