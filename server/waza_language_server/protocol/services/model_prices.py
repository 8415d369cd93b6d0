"""The list prices of models, told by the engine while nobody waits for it.

Nothing is asked before somebody looks at a model, nor in an untrusted workspace: its settings may name the
interpreter of the engine.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, cast

from waza_engine.results.json_values import Block, blocks_of, number_or_none, text_of, whole
from waza_language_server.engine.process import EngineError
from waza_language_server.features.model_prices import ModelPrice

if TYPE_CHECKING:
    from waza_language_server.protocol.server import WazaServer

ANSWER_WITHIN_SECONDS = 30.0
MOST_NAMES = 500
_LISTED = ""
"""What stands for the list among the names that were asked for."""

log = logging.getLogger(__name__)


class AskedPrices:
    """The prices that are known; what is not is asked for once."""

    def __init__(self, ls: WazaServer) -> None:
        self._ls = ls
        self._listed: tuple[ModelPrice, ...] | None = None
        self._known: dict[str, ModelPrice | None] = {}
        self._asked: set[str] = set()

    def listed(self) -> tuple[ModelPrice, ...] | None:
        """Return the models that suites ask most; the first time nobody knows."""
        if self._listed is None:
            self._want(_LISTED)
        return self._listed

    def of(self, name: str) -> ModelPrice | None:
        """Return the price of a model; the first time nobody knows."""
        if name and name not in self._known:
            self._want(name)
        return self._known.get(name)

    def asks_for(self, name: str) -> bool:
        """Return whether an answer is on its way."""
        return name in self._asked

    def _want(self, name: str) -> None:
        if name not in self._asked and self._ls.trusted and not self._ls.is_closing:
            self._asked.add(name)
            self._ls.in_background(self._ask(name))

    async def _ask(self, name: str) -> None:
        found: tuple[ModelPrice, ...] = ()
        try:
            params = {"name": name} if name else {}
            answer = await self._ls.runs.ask("model.prices", params, ANSWER_WITHIN_SECONDS)
            found = tuple(map(_price, blocks_of(cast("Block", answer).get("models"))))
        except EngineError as error:
            log.info("The prices of models are not known: %s", error)
        finally:
            self._asked.discard(name)
        if name == _LISTED:
            self._listed = found
            return
        if len(self._known) >= MOST_NAMES:
            self._known.clear()
        self._known[name] = next(iter(found), None)


def _price(entry: Block) -> ModelPrice:
    return ModelPrice(
        text_of(entry.get("name")),
        text_of(entry.get("model")),
        text_of(entry.get("provider")),
        whole(entry.get("context")) or None,
        number_or_none(entry.get("usd_input")),
        number_or_none(entry.get("usd_output")),
    )
