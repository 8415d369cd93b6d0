"""From a suite on disk to a finished run: loading, workspaces, trials, events and cancelling."""
