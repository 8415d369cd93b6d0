"""The record of a run in files: one format to write, and a reader for what any version wrote."""
