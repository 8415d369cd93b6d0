"""The histories of suites, told by the engine while nobody waits for them.

Asked when results have changed, never for an edit. A hint is drawn without, and once more when the answer has
come. No engine is started for it: where nothing is judged live, the first run starts one.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from waza_language_server.engine.process import EngineError
from waza_language_server.project.histories import history_of

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from waza_language_server.protocol.server import WazaServer

ANSWER_WITHIN_SECONDS = 60.0
SHOWN_RUNS = 12

log = logging.getLogger(__name__)


class ToldHistories:
    """What was asked of which suite. The answers are in the memory of results (``project/scores.py``)."""

    def __init__(self, ls: WazaServer) -> None:
        self._ls = ls
        self._fresh: dict[Path, datetime] = {}
        self._asked: set[Path] = set()

    def is_due(self, suite: Path, newest: datetime) -> bool:
        """Tell whether to ask for the history of a suite whose newest run started then."""
        ls = self._ls
        if self._fresh.get(suite) == newest or suite in self._asked:
            return False
        return ls.trusted and not ls.is_closing and (ls.judges_live or ls.runs.has_engine)

    def ask(self, suite: Path, newest: datetime) -> None:
        """Ask for the history of a suite; the hints are drawn again when it has come."""
        self._asked.add(suite)
        self._fresh[suite] = newest
        self._ls.in_background(self._ask(suite))

    def forget(self) -> None:
        """Ask again when somebody looks: results have changed."""
        self._fresh.clear()

    async def _ask(self, suite: Path) -> None:
        request = {"path": str(suite), "last": SHOWN_RUNS}
        found = None
        try:
            found = history_of(await self._ls.runs.ask("result.history", request, ANSWER_WITHIN_SECONDS))
        except EngineError as error:
            log.info("The history of %s is not known: %s", suite, error)
        finally:
            self._asked.discard(suite)
        is_new = self._ls.session.project.scores.histories.take(suite, found)
        if is_new and self._ls.abilities.refreshes_inlay_hints:
            self._ls.workspace_inlay_hint_refresh(None)
