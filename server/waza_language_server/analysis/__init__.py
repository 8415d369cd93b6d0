"""The rules: one file per family, each yields problems with exact spans and fixes."""
