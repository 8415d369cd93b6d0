"""Rules about the content of other files."""
