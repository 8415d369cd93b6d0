"""The state of a session and its work between messages: open documents, and work in slices."""
