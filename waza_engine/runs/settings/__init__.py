"""What a run was told: the table of settings, and the suite as they want it."""
