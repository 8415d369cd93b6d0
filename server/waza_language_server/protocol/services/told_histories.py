"""The histories of suites, requested from the engine in the background.

They are requested when results have changed, never for an edit. No engine is started for them: without live
verdicts, the first run starts one.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from waza_language_server.project.histories import SuiteHistory, history_of
from waza_language_server.protocol.services.engine_answers import EngineAnswers

if TYPE_CHECKING:
    from datetime import datetime

    from waza_language_server.protocol.server import WazaServer

ANSWER_WITHIN_SECONDS = 60.0
SHOWN_RUNS = 12


class ToldHistories:
    """The requested histories of suites. The features read them from ``project/scores.py``."""

    def __init__(self, ls: WazaServer) -> None:
        self._ls = ls
        self._answers = EngineAnswers[Path, SuiteHistory](ls, "The history of", self._take)

    def is_due(self, suite: Path, newest: datetime) -> bool:
        """Return whether to ask for the history of a suite whose newest run started then."""
        has_engine = self._ls.judges_live or self._ls.runs.has_engine
        return has_engine and self._answers.is_wanted(suite, newest)

    def ask(self, suite: Path, newest: datetime) -> None:
        """Ask for the history of a suite; the hints are drawn again when it has come."""
        self._answers.want(suite, lambda: self._ask(suite), newest)

    def forget(self) -> None:
        """Request answers again at their next use: results have changed."""
        self._answers.forget()

    async def _ask(self, suite: Path) -> SuiteHistory | None:
        request = {"path": str(suite), "last": SHOWN_RUNS}
        return history_of(await self._ls.runs.ask("result.history", request, ANSWER_WITHIN_SECONDS))

    def _take(self, suite: Path, _before: SuiteHistory | None, found: SuiteHistory | None) -> None:
        if self._ls.session.project.scores.histories.take(suite, found):
            self._ls.refresh.ask_for_hints()
