"""New suites, tasks and graders, ready to run and to be made one's own."""
