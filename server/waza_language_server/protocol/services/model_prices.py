"""The list prices of models, requested from the engine in the background.

Nothing is requested or loaded before a feature shows a model.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from waza_engine.results.json_values import Block
    from waza_engine.scoring.cost import ModelPrice
    from waza_language_server.protocol.server import WazaServer
    from waza_language_server.protocol.services.engine_answers import EngineAnswers

ANSWER_WITHIN_SECONDS = 30.0
MOST_NAMES = 500
_LISTED = ""
"""The key of the list of models among the requested names."""


class AskedPrices:
    """The known prices; an unknown one is requested once."""

    def __init__(self, ls: WazaServer) -> None:
        self._ls = ls

    @cached_property
    def _answers(self) -> EngineAnswers[str, tuple[ModelPrice, ...]]:
        from waza_language_server.protocol.services.engine_answers import EngineAnswers

        return EngineAnswers(self._ls, "The price of", most=MOST_NAMES)

    def listed(self) -> tuple[ModelPrice, ...] | None:
        """Return the models that suites use most; unknown at the first call."""
        self._answers.want(_LISTED, lambda: self._ask(_LISTED))
        return self._answers.last(_LISTED) or (None if self.asks_for(_LISTED) else ())

    async def listed_in_time(self) -> tuple[ModelPrice, ...]:
        """Return the models that suites ask most; none when the engine cannot tell."""
        known = self._answers.last(_LISTED)
        if known is None and self._ls.trusted:
            from waza_language_server.engine.process import EngineError

            with suppress(EngineError):
                return await self._ask(_LISTED)
        return known or ()

    def of(self, name: str) -> ModelPrice | None:
        """Return the price of a model; unknown at the first call."""
        if name:
            self._answers.want(name, lambda: self._ask(name))
        return next(iter(self._answers.last(name) or ()), None) if name else None

    def asks_for(self, name: str) -> bool:
        """Return whether an answer is on its way."""
        return self._answers.is_asked(name)

    async def _ask(self, name: str) -> tuple[ModelPrice, ...]:
        params = {"name": name} if name else {}
        answer = await self._ls.runs.ask("model.prices", params, ANSWER_WITHIN_SECONDS)
        from waza_engine.results.json_values import blocks_of

        return tuple(map(_price, blocks_of(cast("Block", answer).get("models"))))


def _price(entry: Block) -> ModelPrice:
    from waza_engine.results.json_values import number_or_none, text_of, whole
    from waza_engine.scoring.cost import ModelPrice

    return ModelPrice(
        text_of(entry.get("name")),
        text_of(entry.get("model")),
        text_of(entry.get("provider")),
        whole(entry.get("context")) or None,
        number_or_none(entry.get("usd_input")),
        number_or_none(entry.get("usd_output")),
    )
