"""Idle work: answers to the next requests are computed while no request is pending.

A slice runs only when no message has come and nothing else was done meanwhile, and for a moment before:
messages come in bunches. So every message, answer and diagnostic goes first. If no such moment comes, the
next gap between two messages is used.
Nothing depends on it; what it has not reached is computed on demand.
"""

from __future__ import annotations

import asyncio
import logging
import time
from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from waza_engine.steps import Steps

SLICE_SECONDS = 0.002
QUIET_SECONDS = 0.05
"""How long no message must have come before it continues."""
PATIENCE_SECONDS = 0.5
"""How long a work waits for such a moment: a client that asks again and again must not keep it away."""
LONGEST_PATIENCE = 20
"""How many times as long it waits while something is being done that takes more than a slice."""

log = logging.getLogger(__name__)


class IdleWork:
    """Background work, one piece after the other in the order in which it was added."""

    def __init__(
        self, quiet_seconds: float = QUIET_SECONDS, patience_seconds: float = PATIENCE_SECONDS
    ) -> None:
        self._quiet_seconds = quiet_seconds
        self._patience_seconds = patience_seconds
        self._waiting: dict[str, Callable[[], Steps[object]]] = {}
        self._task: asyncio.Task[None] | None = None
        self._disturbances = 0
        self._busy_at = -inf
        """When something was begun or went on last that takes more than a slice."""
        self._quiet_since = -1
        """After how many disturbances it was quiet for long enough."""
        self._ended = False

    def add(self, name: str, work: Callable[[], Steps[object]]) -> None:
        """Begin the work when there is time for it; what waits by the same name is replaced."""
        if self._ended:
            return
        self._waiting[name] = work
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._do_all())

    def disturb(self, *, goes_on: bool = False) -> None:
        """Let other work go first: a message has come, or a slice of a pending request was done.

        ``goes_on`` says that the request needs more slices.
        """
        self._disturbances += 1
        if goes_on:
            self._busy_at = time.monotonic()

    def end(self) -> None:
        """Drop what waits, and take nothing more."""
        self._ended = True
        self._waiting.clear()
        if self._task is not None:
            self._task.cancel()

    async def _do_all(self) -> None:
        while self._waiting:
            name = next(iter(self._waiting))
            work = self._waiting.pop(name)
            try:
                await self._do(name, work())
            except Exception:
                log.exception("Reading ahead (%s) failed.", name)

    async def _do(self, name: str, steps: Steps[object]) -> None:
        patience = self._patience_seconds
        begun = time.monotonic()
        while True:
            seen = self._disturbances
            patient_until = min(max(begun, self._busy_at) + patience, begun + LONGEST_PATIENCE * patience)
            is_quiet = seen == self._quiet_since or time.monotonic() > patient_until
            await asyncio.sleep(0 if is_quiet else self._quiet_seconds)
            if seen != self._disturbances:
                continue
            self._quiet_since = seen
            pause_at = time.perf_counter() + SLICE_SECONDS
            while time.perf_counter() < pause_at:
                try:
                    next(steps)
                except StopIteration:
                    return
