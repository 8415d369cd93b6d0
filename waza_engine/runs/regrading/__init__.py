"""Grading recorded runs again with the suite as it is now, and what of both stays in memory."""
