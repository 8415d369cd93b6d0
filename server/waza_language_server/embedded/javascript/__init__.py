"""Assertions in JavaScript."""
