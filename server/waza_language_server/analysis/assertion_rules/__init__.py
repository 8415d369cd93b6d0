"""Rules about the assertions of ``code`` graders: Python, read and never run."""
