"""Short descriptions and prices of models, for hover and completion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Protocol

from waza_engine.frozen import frozen
from waza_engine.markdown import code

if TYPE_CHECKING:
    from waza_engine.scoring.cost import ModelPrice
    from waza_language_server.project.nearby import Nearby

STILL_ASKING = "The price of the model is being looked up."


class ModelPrices(Protocol):
    """A source of the list prices of models, which are requested in the background."""

    def listed(self) -> tuple[ModelPrice, ...] | None:
        """Return the models that suites use most, None while unknown."""
        ...

    def of(self, name: str) -> ModelPrice | None:
        """Return the price of a model, None if it has none or is not known yet."""
        ...

    def asks_for(self, name: str, /) -> bool:
        """Return whether the price of a model is being looked up."""
        ...


def describe_price(price: ModelPrice) -> str:
    """Return ``$3 in · $15 out a million tokens``, "" when the price is not known."""
    parts = [
        f"${usd:g} {way}"
        for usd, way in ((price.usd_input, "in"), (price.usd_output, "out"))
        if usd is not None
    ]
    return " · ".join(parts) + " a million tokens" if parts else ""


def model_story(price: ModelPrice) -> str:
    """Return the lines of a hover, in Markdown."""
    lines = [f"**Model {code(price.name)}**: {code(price.model)} of {code(price.provider)}"]
    if words := describe_price(price):
        lines.append(f"List price: {words}.")
    if price.context is not None:
        lines.append(f"Context: {price.context:,} tokens.")
    return "\n\n".join(lines)


@frozen()
class KnownModel:
    """A model's name and short description; ``is_near`` if the project or its last run uses it."""

    name: str
    words: str
    is_near: bool


def known_models(nearby: Nearby, listed: Iterable[ModelPrice]) -> Iterator[KnownModel]:
    """Yield the models around a document, then those of the price list; some come twice."""
    for name in nearby.models():
        yield KnownModel(name, "used in this project", is_near=True)
    for name in nearby.models_seen():
        yield KnownModel(name, "asked in the last run", is_near=True)
    for price in listed:
        yield KnownModel(price.name, describe_price(price) or price.provider, is_near=False)
