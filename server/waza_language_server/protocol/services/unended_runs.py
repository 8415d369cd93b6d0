"""External runs, from a terminal or another window: their finished tasks, and whether they were killed.

A run appends finished tasks to its journal, which the client watches; a killed run changes nothing more, so
its process is polled as long as its journal exists.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from waza_engine.results.reading.journals import begun, goes_on

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from waza_engine.results.json_values import Block
    from waza_language_server.protocol.server import WazaServer

LOOK_EVERY_SECONDS = 2.0
"""How often processes are polled; all tasks that have finished meanwhile are reported together."""
_MOST_KNOWN = 100


def unended_runs(ls: WazaServer) -> UnendedRuns:
    """Return the external runs, whose news are shown as long as the server is not closing."""
    return UnendedRuns(lambda: None if ls.is_closing else ls.refresh.scores_changed())


class UnendedRuns:
    """The journals that were seen to grow; ``changed`` is called when they say something else than before."""

    def __init__(self, changed: Callable[[], None], every_seconds: float = LOOK_EVERY_SECONDS) -> None:
        self._changed = changed
        self._every_seconds = every_seconds
        self._writers: dict[Path, Block] = {}
        self._has_news = False
        self._timer: asyncio.TimerHandle | None = None

    def saw(self, journal: Path) -> None:
        """Take notice that a journal was made, has grown or is gone."""
        self._has_news = True
        writer = begun(journal)
        if writer is None:
            self._writers.pop(journal, None)
        elif len(self._writers) < _MOST_KNOWN:
            self._writers[journal] = writer
        self._look_soon()

    def _look_soon(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._every_seconds, self._look)

    def _look(self) -> None:
        self._timer = None
        for journal, writer in list(self._writers.items()):
            if not journal.exists() or not goes_on(writer):
                del self._writers[journal]
                self._has_news = True
        if self._has_news:
            self._has_news = False
            self._changed()
        if self._writers:
            self._look_soon()
