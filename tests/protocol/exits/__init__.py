"""Exits at random moments: whatever ends the server, nothing of what it started is left."""
