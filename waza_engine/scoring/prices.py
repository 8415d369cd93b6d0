"""List prices of models, as the library that counts costs has them; nothing is fetched.

``cost.py`` counts with the same prices: a name here means the model that a run would pay for.

Architecture invariant: light until a price is requested; the language server shares ``ModelPrice``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from waza_engine.frozen import frozen

if TYPE_CHECKING:
    from decimal import Decimal

    from genai_prices.types import TieredPrices

SUITES_ASK = ("github-copilot", "openai", "anthropic")
"""The providers of listed models: those that executors use by default, or by their usual servers."""


@frozen()
class ModelPrice:
    """US dollars for a million tokens, the lowest tier; None is not known. ``context`` is in tokens."""

    name: str
    model: str
    provider: str
    context: int | None
    usd_input: float | None
    usd_output: float | None


def listed_models() -> Iterator[ModelPrice]:
    """Yield the models of the providers that suites ask, each name once."""
    from genai_prices.data_snapshot import get_snapshot

    providers = {provider.id: provider for provider in get_snapshot().providers}
    names = dict.fromkeys(
        model.id
        for provider in map(providers.get, SUITES_ASK)
        if provider is not None
        for model in provider.models
        if not model.deprecated
    )
    yield from prices_of(names)


def prices_of(names: Iterable[str]) -> Iterator[ModelPrice]:
    """Yield the price of each name that has one."""
    from genai_prices import Usage, calc_price

    for name in names:
        try:
            found = calc_price(Usage(input_tokens=1, output_tokens=1), name)
        except (LookupError, ValueError):
            continue
        yield ModelPrice(
            name,
            found.model.name or found.model.id,
            found.provider.name,
            found.model.context_window,
            _usd(found.model_price.input_mtok),
            _usd(found.model_price.output_mtok),
        )


def _usd(price: Decimal | TieredPrices | None) -> float | None:
    from genai_prices.types import TieredPrices

    base = price.base if isinstance(price, TieredPrices) else price
    return None if base is None else float(base)
