"""Verdicts of a run, next to the lines that it judged: marks, hints, reasons, and stale results."""
