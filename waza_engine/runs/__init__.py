"""From a suite on disk to a finished run: ``run.py`` is where to start reading."""
