"""Read the files of a suite: their text, the data in YAML and JSON, and which files exist."""
