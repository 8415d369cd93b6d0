"""Languages inside the strings of a suite: each reads its value as text and knows nothing of YAML."""
