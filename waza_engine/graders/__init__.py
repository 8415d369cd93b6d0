"""One file per grader type: its configuration, its documentation and its grade."""
