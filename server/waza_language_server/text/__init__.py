"""Offsets and positions: lines, columns and the characters of YAML scalars."""
