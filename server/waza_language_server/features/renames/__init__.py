"""Renames of symbols, files and folders, and the edits that have to follow them."""
