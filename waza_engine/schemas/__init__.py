"""The JSON Schemas of suite files, generated and committed, and their generator."""
