"""What runs will cost and take, told by the engine while nobody waits for it.

A lens is never late for it: it is drawn without, and once more when the answer has come. Until a newer answer
comes the last one stands. Nothing is asked in an untrusted workspace, nor of a suite of which no run by an
agent is recorded.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from waza_engine.results.json_values import Block, blocks_by_name, number_or_none
from waza_engine.spec.executors import EXECUTORS
from waza_language_server.engine.process import EngineError
from waza_language_server.engine.runs import request_of
from waza_language_server.features.estimate_text import Estimate, SuiteEstimates

if TYPE_CHECKING:
    from pathlib import Path

    from waza_engine.results.reading.scores import RunResult
    from waza_language_server.project.runnable_id import RunnableId
    from waza_language_server.protocol.server import WazaServer

ANSWER_WITHIN_SECONDS = 30.0
MOST_SUITES = 200

log = logging.getLogger(__name__)


class Estimates:
    """The estimates of suites, as runs with the client's own settings would come to."""

    def __init__(self, ls: WazaServer) -> None:
        self._ls = ls
        self._known: dict[Path, SuiteEstimates | None] = {}
        self._fresh: set[Path] = set()
        self._asked: set[Path] = set()

    def of(self, suite: Path, recorded: RunResult | None) -> SuiteEstimates | None:
        """Return what is known of a suite; the engine is asked when that may be out of date."""
        if suite not in self._fresh and suite not in self._asked and self._is_worth_it(recorded):
            self._asked.add(suite)
            self._ls.in_background(self._ask(suite))
        return self._known.get(suite)

    def forget(self) -> None:
        """Ask again when somebody looks: files, results or settings have changed."""
        self._fresh.clear()

    async def of_run(self, target: RunnableId, options: Mapping[str, Any]) -> Estimate | None:
        """Return what a run with these options, in the words of ``eval.run``, will come to, if known."""
        try:
            answer = await self._ls.runs.ask(
                "run.estimate", {**request_of(target), **options}, ANSWER_WITHIN_SECONDS
            )
        except EngineError as error:
            log.info("What the run will cost is not known: %s", error)
            return None
        return _estimate(answer)

    def _is_worth_it(self, recorded: RunResult | None) -> bool:
        if not self._ls.trusted or self._ls.is_closing or recorded is None:
            return False
        return recorded.executor not in EXECUTORS or EXECUTORS[recorded.executor].costs

    async def _ask(self, suite: Path) -> None:
        self._fresh.add(suite)
        found: SuiteEstimates | None = None
        try:
            request = {"path": str(suite), **self._ls.run_options}
            answer = await self._ls.runs.ask("run.estimate", request, ANSWER_WITHIN_SECONDS)
            found = _suite_estimates(answer)
        except EngineError as error:
            log.info("What a run of %s will cost is not known: %s", suite, error)
        finally:
            self._asked.discard(suite)
        before = self._known.get(suite)
        if len(self._known) >= MOST_SUITES:
            del self._known[next(iter(self._known))]
        self._known[suite] = found
        if found != before and self._ls.abilities.refreshes_code_lenses:
            self._ls.workspace_code_lens_refresh(None)


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
