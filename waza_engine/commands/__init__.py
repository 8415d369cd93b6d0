"""The terminal commands: what they are called, what they print, how they exit."""
