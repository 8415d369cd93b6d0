"""Changes that are offered: quick fixes, refactorings, and pieces that move between files."""
