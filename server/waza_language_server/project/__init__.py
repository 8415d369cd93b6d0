"""Suites on disk and in the editor: which file is what, and who refers to whom."""
