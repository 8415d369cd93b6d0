"""Judging recorded answers again while the suite is edited, saying why, and what would help."""
