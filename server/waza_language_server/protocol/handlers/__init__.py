"""One thin handler file per feature."""
