"""Write the results of a run to disk, never showing a half-written file."""
