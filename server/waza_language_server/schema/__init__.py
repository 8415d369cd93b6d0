"""The engine's generated JSON Schemas, parsed into fields and mapped to the tree."""
