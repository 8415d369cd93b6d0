"""Grader entries: their type, and entries in the notation of another type, dialect or tool."""
