"""The record of a run as it stands in files: one way to write it, and one to read what any version wrote."""
