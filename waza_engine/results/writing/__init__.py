"""What a run leaves on disk, and how it gets there without a half-written file ever showing."""
