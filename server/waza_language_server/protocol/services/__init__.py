"""The state of a session and its work between messages: open documents, and what is known about them."""
