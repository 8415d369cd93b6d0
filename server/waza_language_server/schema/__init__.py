"""The engine's generated JSON Schemas, read into fields and laid over the tree."""
