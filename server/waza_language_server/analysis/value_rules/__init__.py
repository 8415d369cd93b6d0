"""Rules about values of one kind, anywhere in a file."""
