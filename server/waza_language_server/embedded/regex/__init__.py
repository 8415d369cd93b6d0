"""Regular expressions: RE2 first, as upstream compiles them, and what only Python reads."""
