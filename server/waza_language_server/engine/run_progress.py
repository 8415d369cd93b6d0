"""How far a run is, counted along its events."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

from waza_engine.figures import shown_score
from waza_engine.frozen import frozen
from waza_engine.terminal import visible
from waza_engine.vocabulary import shown_grader

_SHOWN_CHARACTERS = 60


@frozen()
class RunProgress:
    """The progress of a run: finished grader verdicts or trials, their total, and the current activity."""

    completed: int
    total: int
    message: str

    @property
    def percentage(self) -> int | None:
        """0 to 100, or None while the total is unknown."""
        return None if self.total <= 0 else min(100, 100 * self.completed // self.total)


def advanced(progress: RunProgress, event: Mapping[str, Any]) -> RunProgress:
    """Return the progress of a run after an event."""
    completed, total = event.get("completed"), event.get("total")
    return RunProgress(
        completed if isinstance(completed, int) else progress.completed,
        total if isinstance(total, int) else progress.total,
        _describe(event) or progress.message,
    )


def _describe(event: Mapping[str, Any]) -> str:
    kind, prompt = event.get("kind"), event.get("prompt")
    if isinstance(prompt, str):
        shown = textwrap.shorten(prompt, _SHOWN_CHARACTERS, placeholder=" …")
        return visible(shown) if kind == "started" else ""
    names = [shown_grader(str(event[key])) for key in ("task", "grader") if event.get(key)]
    if kind == "graded" and isinstance(event.get("score"), int | float):
        names.append(shown_score(event["score"]))
    elif kind in ("passed", "failed", "errored", "pending", "skipped"):
        names.append(str(kind))
    return " · ".join(names)
