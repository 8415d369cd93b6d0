"""The version of the engine, the server and the extension."""

__version__ = "0.1.0"
