"""One file per editor feature, pure: text and offsets in, plain data out."""
