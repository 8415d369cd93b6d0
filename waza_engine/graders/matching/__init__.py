"""Comparisons for answers: strings, patterns, sequences, arguments, JSON Schemas."""
