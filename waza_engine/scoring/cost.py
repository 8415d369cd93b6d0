"""Token counts and their cost in US dollars: the agent's report, else the list price, else unknown.

Prices come with the library and are never fetched: a run sends nothing anywhere but to the user's provider.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

from waza_engine.frozen import frozen
from waza_engine.vocabulary import TOKENS, ModelUsage, Usage, token_counts

if TYPE_CHECKING:
    from decimal import Decimal

    from genai_prices.types import TieredPrices

MIXED = "mixed"
COUNTS = ("turns", *TOKENS, "premium_requests")
"""The fields of a ``Usage`` that count something."""


def added(one: Usage | None, other: Usage | None) -> Usage | None:
    """Return the sum of two usages; the other one if one is None, which is unknown.

    The cost is known when both report one: half a bill is not a cost.
    """
    if one is None or other is None:
        return other if one is None else one
    return Usage(
        **{name: getattr(one, name) + getattr(other, name) for name in COUNTS},
        model_metrics=_by_model(one.model_metrics, other.model_metrics),
        provider=_common(one.provider, other.provider),
        provider_host=_common(one.provider_host, other.provider_host),
        cost_usd=_cost(one, other),
    )


def total(usages: Iterable[Usage | None]) -> Usage | None:
    """Return the sum of many usages, None when none is known."""
    found: Usage | None = None
    for usage in usages:
        found = added(found, usage)
    return found


def tokens_of(usage: Usage | None) -> int:
    """Return how many tokens went in and out, those of the cache included."""
    return 0 if usage is None else input_tokens_of(usage) + usage.output_tokens


def input_tokens_of(usage: Usage | ModelUsage) -> int:
    """Return all tokens that went in.

    Some agents include cached tokens in ``input_tokens``, some do not. More tokens in the cache than tokens
    at all can only mean the latter.
    """
    cached = usage.cache_read_tokens + usage.cache_write_tokens
    return usage.input_tokens if cached <= usage.input_tokens else usage.input_tokens + cached


def _by_model(one: Mapping[str, ModelUsage], other: Mapping[str, ModelUsage]) -> dict[str, ModelUsage]:
    found = dict(one)
    for model, usage in other.items():
        before = astuple(found.get(model, ModelUsage()))
        found[model] = ModelUsage(*(old + more for old, more in zip(before, astuple(usage), strict=True)))
    return found


def _common(one: str, other: str) -> str:
    """Return the common value; an empty one does not contradict."""
    return one or other if one == other or not one or not other else MIXED


def _cost(one: Usage, other: Usage) -> float | None:
    costs = [usage.cost_usd for usage in (one, other) if usage.cost_usd is not None or tokens_of(usage)]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known and len(known) == len(costs) else None


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
        ModelUsage(**{name: rest(name) for name in TOKENS}),
    )


def _priced(model: str, usage: ModelUsage) -> Cost:
    from genai_prices import Usage as PricedUsage
    from genai_prices import calc_price

    tokens = input_tokens_of(usage)
    if not tokens and not usage.output_tokens:
        return Cost()
    if not model:
        return Cost(unpriced=("",))
    try:
        counted = PricedUsage(**{**token_counts(usage), "input_tokens": tokens})
        return Cost(float(calc_price(counted, model).total_price))
    except (LookupError, ValueError):
        return Cost(unpriced=(model,))


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
