"""Token counts: add them up, and return totals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from waza_engine.vocabulary import ModelUsage, Usage

MIXED = "mixed"


def added(one: Usage | None, other: Usage | None) -> Usage | None:
    """Return the sum of two usages; None counts as unknown.

    The cost is known when both report one: half a bill is not a cost.
    """
    if one is None or other is None:
        return other if one is None else one
    return Usage(
        turns=one.turns + other.turns,
        input_tokens=one.input_tokens + other.input_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
        cache_read_tokens=one.cache_read_tokens + other.cache_read_tokens,
        cache_write_tokens=one.cache_write_tokens + other.cache_write_tokens,
        premium_requests=one.premium_requests + other.premium_requests,
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
        before = found.get(model, ModelUsage())
        found[model] = ModelUsage(
            input_tokens=before.input_tokens + usage.input_tokens,
            output_tokens=before.output_tokens + usage.output_tokens,
            cache_read_tokens=before.cache_read_tokens + usage.cache_read_tokens,
            cache_write_tokens=before.cache_write_tokens + usage.cache_write_tokens,
            request_count=before.request_count + usage.request_count,
            request_cost=before.request_cost + usage.request_cost,
        )
    return found


def _common(one: str, other: str) -> str:
    """Return the common value; an empty one does not contradict."""
    return one or other if one == other or not one or not other else MIXED


def _cost(one: Usage, other: Usage) -> float | None:
    costs = [usage.cost_usd for usage in (one, other) if usage.cost_usd is not None or tokens_of(usage)]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known and len(known) == len(costs) else None
