"""Limits of a run: deadlines, cancellation, and budget."""
