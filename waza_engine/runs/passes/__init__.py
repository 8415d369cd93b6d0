"""A pass through a suite: its plan, tasks and cache, and its conclusion."""
