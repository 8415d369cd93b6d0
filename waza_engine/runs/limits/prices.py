"""The price of a trial, as earlier trials show it: a run with a limit begins none that it cannot pay."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence

from waza_engine.scoring.cost import Cost, Spending

_HIGH = 0.95
_USUAL = 0.5
_MOST_TRIALS = 200
"""The newest trials of a task, or of all tasks, that count."""


class TrialPrices:
    """The spending of trials by the ids of their tasks, and of them all. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all: list[Spending] = []
        self._by_task: dict[str, list[Spending]] = {}

    def add(self, task: str, spent: Spending) -> None:
        """Note what a trial cost; one that cost nothing says nothing about others."""
        if not spent.anything:
            return
        with self._lock:
            for known in (self._all, self._by_task.setdefault(task, [])):
                known.append(spent)
                del known[:-_MOST_TRIALS]

    def high(self, task: str) -> Spending | None:
        """Return a price that 95 % of the trials do not exceed: of this task or, without any, of all."""
        return self._quantile(task, _HIGH)

    def usual(self, task: str) -> Spending | None:
        """Return the median price of a trial: of this task or, without any, of all."""
        return self._quantile(task, _USUAL)

    def _quantile(self, task: str, share: float) -> Spending | None:
        with self._lock:
            known = list(self._by_task.get(task) or self._all)
        if not known:
            return None
        usd = _at([spent.cost.usd for spent in known], share)
        return Spending(round(_at([spent.tokens for spent in known], share)), Cost(usd))


def _at(values: Sequence[float], share: float) -> float:
    return sorted(values)[math.ceil(share * len(values)) - 1]
