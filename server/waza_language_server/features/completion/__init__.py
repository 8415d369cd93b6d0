"""Completion: keys, values, graders, anchors, and words of languages in strings."""
