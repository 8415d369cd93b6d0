"""The real server stays answerable, and small, whatever is typed into a document."""

from __future__ import annotations

HEAD = (
    "name: s\nskill: s\nconfig:\n  trials_per_task: 1\ngraders:\n  - type: text\n    name: a\ntasks:\n  - t\n"
)
