"""What can be written at the cursor: keys, values, graders, anchors, words of languages in strings."""
