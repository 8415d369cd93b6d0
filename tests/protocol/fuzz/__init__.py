"""A seeded stateful fuzzer of the server: messages, files and edits over its standard streams."""
