"""A YAML tree that always exists, whatever state the text is in."""
