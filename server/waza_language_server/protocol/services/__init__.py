"""What a session holds and does between messages: open documents, and work in slices."""
