"""What stands at the cursor, in words: keys, names, anchors, models and their prices."""
