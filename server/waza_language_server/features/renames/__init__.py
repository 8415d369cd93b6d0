"""Other names for things, files and folders, and what has to follow them."""
