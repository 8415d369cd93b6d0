"""Hover texts: keys, names, anchors, models and their prices."""
