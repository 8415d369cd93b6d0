"""Rules that the schemas state: keys, types and values."""
