"""Suite files: one pydantic model file per document kind, and how files are loaded into them."""
