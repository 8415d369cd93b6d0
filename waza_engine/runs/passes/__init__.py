"""A pass through a suite: its plan, tasks, hooks and cache, and its conclusion."""
