"""The engine process seen from the server: start, run, progress, cancel, results on disk."""
