"""Answers that only the engine can give, requested in the background.

Nothing waits for an answer: a feature is drawn without it, and again when it has arrived. Nothing is
requested in an untrusted workspace: its settings may name the interpreter of the engine.
"""

from __future__ import annotations

import logging
from collections.abc import Hashable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from waza_engine.results.json_values import blocks_by_name, blocks_of, number_or_none, text_of, whole
from waza_engine.spec.executors import EXECUTORS
from waza_language_server.engine.plugin_types import (
    GRADER_TYPES,
    OF_PLUG_INS,
    TYPES_WITHIN_SECONDS,
    types_in,
)
from waza_language_server.engine.process import EngineError
from waza_language_server.engine.run_request import request_of
from waza_language_server.features.runnables.code_lens import Estimate, SuiteEstimates, nothing_expected
from waza_language_server.project.histories import SuiteHistory, history_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import datetime

    from waza_engine.results.json_values import Block
    from waza_engine.results.reading.scores import RunResult
    from waza_engine.scoring.cost import ModelPrice
    from waza_language_server.engine.runs import Runs
    from waza_language_server.features.runnables.code_lens import Expected
    from waza_language_server.project.runnable_id import RunnableId
    from waza_language_server.protocol.connection import ClientConnection
    from waza_language_server.protocol.services.changes import Changes
    from waza_language_server.protocol.services.refresh import RefreshRequests
    from waza_language_server.protocol.services.run_settings import RunSettings
    from waza_language_server.protocol.services.session import Session


KeyT = TypeVar("KeyT", bound=Hashable)
FoundT = TypeVar("FoundT")

log = logging.getLogger(__name__)


class EngineAnswers(Generic[KeyT, FoundT]):
    """The last answers, ``most`` of them; ``about`` precedes the key in the log if the engine fails."""

    about = ""
    most = 200

    def __init__(self, client: ClientConnection, runs: Runs, refresh: RefreshRequests) -> None:
        self._client = client
        self._runs = runs
        self._refresh = refresh
        self._known: dict[KeyT, FoundT | None] = {}
        self._fresh: dict[KeyT, object] = {}
        self._asked: set[KeyT] = set()

    def __bool__(self) -> bool:
        """Return whether anything was ever requested."""
        return bool(self._known or self._asked)

    def last(self, key: KeyT) -> FoundT | None:
        """Return the last answer, be it out of date."""
        return self._known.get(key)

    def fresh(self, key: KeyT) -> FoundT | None:
        """Return the last answer if nothing has changed since it was requested."""
        return self._known.get(key) if key in self._fresh else None

    def asks_for(self, key: KeyT) -> bool:
        """Return whether an answer is on its way."""
        return key in self._asked

    def is_wanted(self, key: KeyT, state: object = None) -> bool:
        """Return whether to ask: ``state`` has changed since the last request."""
        is_known = key in self._fresh and self._fresh[key] == state
        return (
            not is_known and key not in self._asked and self._client.trusted and not self._client.is_closing
        )

    def want(self, key: KeyT, ask: Callable[[], Awaitable[FoundT | None]], state: object = None) -> None:
        """Ask in the background if the answer is not known, or is one to another ``state``."""
        if self.is_wanted(key, state):
            self._asked.add(key)
            self._client.in_background(self._request(key, ask, state))

    def forget(self) -> None:
        """Request answers again at their next use: files, results or settings have changed."""
        self._fresh.clear()

    async def _request(self, key: KeyT, ask: Callable[[], Awaitable[FoundT | None]], state: object) -> None:
        # Before the question: what changes from here on makes the answer an old one.
        self._fresh[key] = state
        found: FoundT | None = None
        try:
            found = await ask()
        except EngineError as error:
            log.info("%s %s is not known: %s", self.about, key, error)
        finally:
            self._asked.discard(key)
        before = self._known.get(key)
        if len(self._known) >= self.most:
            oldest = next(iter(self._known))
            del self._known[oldest]
            self._fresh.pop(oldest, None)
        self._known[key] = found
        self.arrived(key, before, found)

    def arrived(self, key: KeyT, before: FoundT | None, found: FoundT | None) -> None:
        """Show an answer that differs from the one before; None is no answer."""


ANSWER_WITHIN_SECONDS = 30.0


class Estimates(EngineAnswers[Path, SuiteEstimates]):
    """The estimates of suites, as runs with the client's own settings would come to."""

    about = "The cost of a run of"

    def __init__(
        self, client: ClientConnection, runs: Runs, refresh: RefreshRequests, run_settings: RunSettings
    ) -> None:
        super().__init__(client, runs, refresh)
        self._run_settings = run_settings

    def of(self, suite: Path, recorded: RunResult | None) -> SuiteEstimates | None:
        """Return the known estimates of a suite, and request them again if they may be outdated."""
        if recorded is not None and _costs(recorded):
            self.want(suite, lambda: self._ask(suite))
        return self.last(suite)

    @property
    def for_lenses(self) -> Expected:
        """Return ``of`` for clients whose lenses show it."""
        return self.of if "cost" in self._client.options.lens else nothing_expected

    async def of_run(self, target: RunnableId, options: Mapping[str, Any]) -> Estimate | None:
        """Return the estimate of a run with these options, named as in ``eval.run``; None if unknown."""
        try:
            answer = await self._runs.ask(
                "run.estimate", {**request_of(target), **options}, ANSWER_WITHIN_SECONDS
            )
        except EngineError as error:
            log.info("The cost of the run is not known: %s", error)
            return None
        return _estimate(answer)

    async def _ask(self, suite: Path) -> SuiteEstimates | None:
        request = {"path": str(suite), **self._run_settings.of(suite)}
        return _suite_estimates(await self._runs.ask("run.estimate", request, ANSWER_WITHIN_SECONDS))

    def arrived(self, key: Path, before: SuiteEstimates | None, found: SuiteEstimates | None) -> None:
        """Draw the lenses again if they show another estimate."""
        if found != before:
            self._refresh.ask_for_lenses()


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


MOST_NAMES = 500
_LISTED = ""
"""The key of the list of models among the requested names."""


class EnginePrices(EngineAnswers[str, "tuple[ModelPrice, ...]"]):
    """The known prices; an unknown one is requested once."""

    about = "The price of"
    most = MOST_NAMES

    def listed(self) -> tuple[ModelPrice, ...] | None:
        """Return the models that suites use most; unknown at the first call."""
        self.want(_LISTED, lambda: self._ask(_LISTED))
        return self.last(_LISTED) or (None if self.asks_for(_LISTED) else ())

    async def listed_in_time(self) -> tuple[ModelPrice, ...]:
        """Return the models that suites ask most; none when the engine cannot tell."""
        known = self.last(_LISTED)
        if known is None and self._client.trusted:
            with suppress(EngineError):
                return await self._ask(_LISTED)
        return known or ()

    def of(self, name: str) -> ModelPrice | None:
        """Return the price of a model; unknown at the first call."""
        if name:
            self.want(name, lambda: self._ask(name))
        return next(iter(self.last(name) or ()), None) if name else None

    async def _ask(self, name: str) -> tuple[ModelPrice, ...]:
        params = {"name": name} if name else {}
        answer = await self._runs.ask("model.prices", params, ANSWER_WITHIN_SECONDS)
        return tuple(map(_price, blocks_of(cast("Block", answer).get("models"))))


def _price(entry: Block) -> ModelPrice:
    # With the first model: its module loads the tables of prices.
    from waza_engine.scoring.cost import ModelPrice

    return ModelPrice(
        text_of(entry.get("name")),
        text_of(entry.get("model")),
        text_of(entry.get("provider")),
        whole(entry.get("context")) or None,
        number_or_none(entry.get("usd_input")),
        number_or_none(entry.get("usd_output")),
    )


HISTORY_WITHIN_SECONDS = 60.0
SHOWN_RUNS = 12


class RunHistories(EngineAnswers[Path, SuiteHistory]):
    """The requested histories of suites. The features read them from ``project/scores.py``."""

    about = "The history of"

    def __init__(
        self, client: ClientConnection, runs: Runs, refresh: RefreshRequests, session: Session
    ) -> None:
        super().__init__(client, runs, refresh)
        self._session = session

    def is_due(self, suite: Path, newest: datetime) -> bool:
        """Return whether to ask for the history of a suite whose newest run started then."""
        has_engine = self._client.grades_live or self._runs.has_engine
        return has_engine and self.is_wanted(suite, newest)

    def ask(self, suite: Path, newest: datetime) -> None:
        """Ask for the history of a suite; the hints are drawn again when it has come."""
        self.want(suite, lambda: self._ask(suite), newest)

    async def _ask(self, suite: Path) -> SuiteHistory | None:
        request = {"path": str(suite), "last": SHOWN_RUNS}
        return history_of(await self._runs.ask("result.history", request, HISTORY_WITHIN_SECONDS))

    def arrived(self, key: Path, before: SuiteHistory | None, found: SuiteHistory | None) -> None:
        """Store a history for the features, and draw the hints again if it is another one."""
        if self._session.project.scores.histories.take(key, found):
            self._refresh.ask_for_hints()


class PlugInTypes:
    """The grader types of plug-ins, which the session's catalog gets when they are known."""

    def __init__(self, client: ClientConnection, runs: Runs, session: Session, changes: Changes) -> None:
        self._client = client
        self._runs = runs
        self._session = session
        self._changes = changes
        self._are_needed = False

    def need(self) -> None:
        """Ask for them once: a type that this engine does not know either is a mistake of the author."""
        if self._client.trusted and not self._are_needed and not self._client.is_closing:
            self._are_needed = True
            self._client.in_background(self._learn())

    def forget(self) -> None:
        """Forget the types of the last engine, and ask the new one if a suite has needed them."""
        self._use({})
        if self._are_needed and self._client.trusted:
            self._client.in_background(self._learn())

    async def _learn(self) -> None:
        interpreter = self._client.options.interpreter
        try:
            answer: Any = await self._runs.ask(GRADER_TYPES, OF_PLUG_INS, TYPES_WITHIN_SECONDS)
        except EngineError as error:
            log.info("The engine was not asked for grader types of plug-ins: %s", error)
            return
        if self._client.options.interpreter == interpreter:
            self._use(types_in(answer))

    def _use(self, schemas: Mapping[str, Any]) -> None:
        if self._session.learn_types(schemas):
            self._changes.rules_changed()
