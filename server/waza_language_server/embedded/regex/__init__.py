"""Regular expressions: RE2 first, as upstream compiles them, and syntax that only Python supports."""
