"""The models that a suite may be asked with: what lists of completion and of a client's own offer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from waza_engine.frozen import frozen
from waza_language_server.features.hover.model_prices import price_in_words

if TYPE_CHECKING:
    from waza_engine.scoring.cost import ModelPrice
    from waza_language_server.project.nearby import Nearby


@frozen()
class KnownModel:
    """A name, a short description, and whether it appears in the project or in its last run."""

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
        yield KnownModel(price.name, price_in_words(price) or price.provider, is_near=False)
