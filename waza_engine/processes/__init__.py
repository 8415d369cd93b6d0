"""How all that the engine starts ends with it, however it ends. Light."""
