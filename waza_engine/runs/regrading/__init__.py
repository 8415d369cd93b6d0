"""Grade recorded runs again with the current suite, and cache both in memory."""
