"""Append each failed grader of a run to ``failures.log`` in the working directory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from waza_engine.runs.events.stream import RunEvent


def log_failure(event: RunEvent) -> None:
    """Log a verdict that did not pass; docs/engine.md lists the events."""
    if event.kind == "graded" and event.passed is False:
        with Path("failures.log").open("a", encoding="utf-8") as log:
            log.write(f"{event.task} {event.grader}: {event.message}\n")
