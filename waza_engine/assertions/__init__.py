"""The assertion language of `code` graders: its names, and safe evaluation in a worker process."""
