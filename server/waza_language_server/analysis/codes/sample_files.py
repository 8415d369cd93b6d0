"""Files without a problem, with which the examples of codes begin."""

from __future__ import annotations

TASK = "id: t\nname: T\ninputs:\n  prompt: Go\n"
CONFIG = "config:\n  trials_per_task: 1\n  timeout_seconds: 60\n  executor: mock\n  model: m\n"
EVAL = f"name: demo\nskill: demo\n{CONFIG}tasks: [tasks/*.yaml]\n"


def graders(text: str) -> str:
    """Return a task with these grader entries."""
    return f"{TASK}graders:\n{text}"
