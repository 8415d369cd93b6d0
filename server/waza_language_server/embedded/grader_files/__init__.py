"""Grader files that a suite names, read without running them: the interface that a run needs."""
