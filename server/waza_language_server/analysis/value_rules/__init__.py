"""Rules about values of one kind, wherever they stand."""
