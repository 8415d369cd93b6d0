"""The JSON Schemas of suite files, generated and committed, and what makes them."""
