"""Estimates of the cost and duration of runs, requested from the engine in the background.

The last answer is used until a newer one arrives. No estimate is requested for a suite without a recorded
run by an agent.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from waza_engine.results.json_values import Block, blocks_by_name, number_or_none
from waza_engine.spec.executors import EXECUTORS
from waza_language_server.engine.process import EngineError
from waza_language_server.engine.run_request import request_of
from waza_language_server.features.runnables.code_lens import nothing_expected
from waza_language_server.features.runnables.estimate_text import Estimate, SuiteEstimates
from waza_language_server.protocol.services.engine_answers import EngineAnswers

if TYPE_CHECKING:
    from waza_engine.results.reading.scores import RunResult
    from waza_language_server.features.runnables.code_lens import Expected
    from waza_language_server.project.runnable_id import RunnableId
    from waza_language_server.protocol.server import WazaServer

ANSWER_WITHIN_SECONDS = 30.0

log = logging.getLogger(__name__)


class Estimates:
    """The estimates of suites, as runs with the client's own settings would come to."""

    def __init__(self, ls: WazaServer) -> None:
        self._ls = ls
        self._answers = EngineAnswers[Path, SuiteEstimates](ls, "The cost of a run of", self._draw)

    def of(self, suite: Path, recorded: RunResult | None) -> SuiteEstimates | None:
        """Return the known estimates of a suite, and request them again if they may be outdated."""
        if recorded is not None and _costs(recorded):
            self._answers.want(suite, lambda: self._ask(suite))
        return self._answers.last(suite)

    @property
    def for_lenses(self) -> Expected:
        """Return ``of`` for clients whose lenses show it."""
        return self.of if "cost" in self._ls.options.lens else nothing_expected

    def forget(self) -> None:
        """Request answers again at their next use: files, results or settings have changed."""
        self._answers.forget()

    async def of_run(self, target: RunnableId, options: Mapping[str, Any]) -> Estimate | None:
        """Return the estimate of a run with these options, named as in ``eval.run``; None if unknown."""
        try:
            answer = await self._ls.runs.ask(
                "run.estimate", {**request_of(target), **options}, ANSWER_WITHIN_SECONDS
            )
        except EngineError as error:
            log.info("The cost of the run is not known: %s", error)
            return None
        return _estimate(answer)

    async def _ask(self, suite: Path) -> SuiteEstimates | None:
        request = {"path": str(suite), **self._ls.run_settings.of(suite)}
        return _suite_estimates(await self._ls.runs.ask("run.estimate", request, ANSWER_WITHIN_SECONDS))

    def _draw(self, _suite: Path, before: SuiteEstimates | None, found: SuiteEstimates | None) -> None:
        if found != before:
            self._ls.refresh.ask_for_lenses()


def _costs(recorded: RunResult) -> bool:
    return recorded.executor not in EXECUTORS or EXECUTORS[recorded.executor].costs


def _suite_estimates(answer: Block) -> SuiteEstimates | None:
    suite = _estimate(answer)
    if suite is None:
        return None
    known = {name: _estimate(one) for name, one in blocks_by_name(answer, "tasks").items()}
    return SuiteEstimates(suite, {name: one for name, one in known.items() if one is not None})


def _estimate(answer: Block) -> Estimate | None:
    trials = answer.get("trials")
    if not isinstance(trials, int):
        return None
    usd, seconds = map(number_or_none, (answer.get("usd"), answer.get("seconds")))
    return Estimate(trials, usd, seconds, free=answer.get("free") is True)
