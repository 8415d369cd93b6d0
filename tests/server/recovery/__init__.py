"""Random edits of JSON Lines and of JSON documents."""
