"""The insight into each built-in grader type."""
