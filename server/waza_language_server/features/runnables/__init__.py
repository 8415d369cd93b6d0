"""Runnables, their estimates, and where they are offered: lenses, and the tree of a test explorer."""
