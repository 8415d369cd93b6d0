"""Rules that the schemas express: keys, types and values."""
