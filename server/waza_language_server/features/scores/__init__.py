"""What a run came to, beside the lines that it judged: marks, hints, reasons, and what is stale."""
