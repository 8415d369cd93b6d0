"""What authors write: one pydantic model file per document kind, and the JSON Schemas made from them."""
