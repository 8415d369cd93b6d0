"""Programs: how they are started, bounded in time, and ended with all they started."""
