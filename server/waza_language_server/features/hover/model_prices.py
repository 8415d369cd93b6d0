"""Short descriptions and prices of models, for hover and completion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from waza_engine.markdown import code

if TYPE_CHECKING:
    from waza_engine.scoring.cost import ModelPrice

STILL_ASKING = "The price of the model is being looked up."


class ModelPrices(Protocol):
    """A source of the list prices of models, which are requested in the background."""

    def listed(self) -> tuple[ModelPrice, ...] | None:
        """Return the models that suites use most, None while unknown."""
        ...

    def of(self, name: str) -> ModelPrice | None:
        """Return the price of a model, None when it has none or that is not known yet."""
        ...

    def asks_for(self, name: str) -> bool:
        """Return whether the price of a model is being looked up."""
        ...


class NoPrices:
    """A price source without prices."""

    def listed(self) -> tuple[ModelPrice, ...]:
        """Return no model."""
        return ()

    def of(self, name: str) -> None:
        """Return no price."""

    def asks_for(self, name: str) -> bool:
        """Return False: there is no source to ask."""
        return False


NO_PRICES = NoPrices()


def price_in_words(price: ModelPrice) -> str:
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
    if words := price_in_words(price):
        lines.append(f"List price: {words}.")
    if price.context is not None:
        lines.append(f"Context: {price.context:,} tokens.")
    return "\n\n".join(lines)
