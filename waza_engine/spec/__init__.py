"""What authors write: one pydantic model file per document kind, and how files become them."""
