"""A pass through a suite: what is planned, its tasks, hooks and cache, and how it comes out."""
