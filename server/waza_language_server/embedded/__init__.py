"""Languages inside the strings of a suite: each parses its value as text, independently of YAML."""
