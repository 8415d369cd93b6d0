"""One trial from its request to its outcome, and the place where trials are handed out."""
