"""Grader entries: their type, and entries in the words of another type, dialect or tool."""
