"""A trial as plain data, which can be serialized and executed elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from waza_engine.runs.settings.table import RunSettings, settings_from


@dataclass(frozen=True, slots=True)
class TrialRequest:
    """The trial to execute, as plain data.

    ``task`` is the id of the task and ``position`` its index among the chosen ones, from 0: ids may occur
    twice. ``trial`` counts from 1, and so does ``attempt``, the first one to make: earlier ones are used up.
    A ``baseline`` has no skills; ``baseline_output`` is the answer of the same trial there, for graders that
    compare.
    """

    settings: RunSettings
    task: str
    position: int
    trial: int
    attempt: int = 1
    baseline: bool = False
    baseline_output: str | None = None

    def document(self) -> dict[str, Any]:
        """Return the request as JSON."""
        return {
            "settings": self.settings.document(),
            "task": self.task,
            "position": self.position,
            "trial": self.trial,
            "attempt": self.attempt,
            "baseline": self.baseline,
            "baseline_output": self.baseline_output,
        }


def request_from(document: Mapping[str, Any]) -> TrialRequest:
    """Return the request that a document was made of. Raises ``KeyError`` and ``TypeError`` for another."""
    given: dict[str, Any] = {**document, "settings": settings_from(document["settings"])}
    return TrialRequest(**given)
