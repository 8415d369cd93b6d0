"""Vally's eval files (`*.eval.yaml`) and project files (`.vally.yaml`), versions 0.4 to 0.19.

The models come from Vally's public reference of eval files and from its release notes.
"""
