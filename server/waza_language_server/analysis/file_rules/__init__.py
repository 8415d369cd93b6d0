"""Rules about one file that no schema expresses."""
