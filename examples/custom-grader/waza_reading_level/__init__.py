"""A grader type of its own: how hard an answer is to read."""
