"""A YAML tree that always exists, whatever the state of the text."""
