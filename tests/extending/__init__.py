"""One small addition of each sort, written as CONTRIBUTING.md says how to add it."""
