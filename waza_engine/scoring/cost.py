"""The cost of tokens in US dollars: the agent's report, else the list price of the model, else unknown.

Prices come with the library and are never fetched: a run sends nothing anywhere but to the user's provider.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from waza_engine.scoring.usage import input_tokens_of
from waza_engine.vocabulary import ModelUsage, Usage


@dataclass(frozen=True, slots=True)
class Cost:
    """US dollars, as far as they are known. ``unpriced`` names the models whose tokens have no known price.

    A model without a name is ``""``: the agent's own choice, which it did not report.
    """

    usd: float = 0.0
    unpriced: tuple[str, ...] = ()

    @property
    def known(self) -> bool:
        """Return whether this is the whole cost."""
        return not self.unpriced


@dataclass(frozen=True, slots=True)
class Spending:
    """The usage of a whole run: tokens in and out, of every call, and their cost."""

    tokens: int = 0
    cost: Cost = Cost()

    @property
    def anything(self) -> bool:
        """Return whether anything was spent: some agents report their cost, and no tokens."""
        return self.tokens > 0 or self.cost != Cost()


def cost_of(usage: Usage | None, model: str = "") -> Cost:
    """Return the cost of a usage; ``model`` answered whatever the usage does not ascribe to a model."""
    if usage is None:
        return Cost()
    if usage.cost_usd is not None:
        return Cost(usage.cost_usd)
    return total_cost(_priced(name, part) for name, part in _parts(usage, model))


def total_cost(costs: Iterable[Cost]) -> Cost:
    """Return the sum."""
    usd, unpriced = 0.0, dict[str, None]()
    for cost in costs:
        usd += cost.usd
        unpriced |= dict.fromkeys(cost.unpriced)
    return Cost(usd, tuple(unpriced))


def has_price(model: str) -> bool:
    """Return whether the model has a list price."""
    return _priced(model, ModelUsage(input_tokens=1, output_tokens=1)).known


def _parts(usage: Usage, model: str) -> Iterator[tuple[str, ModelUsage]]:
    """Yield the usage of each model, and the remainder."""
    metrics = usage.model_metrics
    yield from metrics.items()

    def rest(key: str) -> int:
        return max(0, getattr(usage, key) - sum(getattr(part, key) for part in metrics.values()))

    yield (
        model,
        ModelUsage(
            input_tokens=rest("input_tokens"),
            output_tokens=rest("output_tokens"),
            cache_read_tokens=rest("cache_read_tokens"),
            cache_write_tokens=rest("cache_write_tokens"),
        ),
    )


def _priced(model: str, usage: ModelUsage) -> Cost:
    from genai_prices import Usage as PricedUsage
    from genai_prices import calc_price

    tokens = input_tokens_of(usage)
    if not tokens and not usage.output_tokens:
        return Cost()
    if not model:
        return Cost(unpriced=("",))
    counted = PricedUsage(
        input_tokens=tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
    )
    try:
        return Cost(float(calc_price(counted, model).total_price))
    except (LookupError, ValueError):
        return Cost(unpriced=(model,))
