"""Keys: unknown, at the wrong level, missing, without effect, deprecated."""
