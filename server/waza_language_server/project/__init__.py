"""Suites on disk and in the editor: the kinds of files, and the references between them."""
