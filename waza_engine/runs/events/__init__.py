"""Events that a run sends while it is active."""
