"""Usage and cost in files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import cast

from waza_engine.results.json_values import Block, Json, block_of, figures_of, given, number, texts_of
from waza_engine.scoring.cost import Cost
from waza_engine.vocabulary import ModelUsage, Usage

_COUNTS = (
    "turns",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "premium_requests",
)


def usage_document(usage: Usage | None) -> Json | None:
    """Return the usage: the counts always, other values if not empty; None for no usage."""
    if usage is None:
        return None
    figures = asdict(usage)
    if not any(figures.values()):
        return None
    return {key: value for key, value in figures.items() if value or key in _COUNTS}


def usage_of(value: object) -> Usage | None:
    """Return a usage as it was written, None if the value is not one."""
    return _usage(cast("Block", value)) if isinstance(value, Mapping) else None


def cost_document(cost: Cost) -> Json:
    """Return a cost in US dollars, null when it is entirely unknown, and the models without a price."""
    unknown = not cost.usd and not cost.known
    return {"usd": None if unknown else cost.usd, **given(unpriced=list(cost.unpriced))}


def cost_of(value: object) -> Cost | None:
    """Return a cost as it was written, None if the value is not one."""
    if not isinstance(value, Mapping):
        return None
    cost = cast("Block", value)
    return Cost(number(cost.get("usd")), texts_of(cost.get("unpriced")))


def _usage(usage: Block) -> Usage:
    cost = usage.get("cost_usd")
    return replace(
        figures_of(Usage, usage),
        model_metrics={
            model: figures_of(ModelUsage, cast("Block", figures))
            for model, figures in block_of(usage, "model_metrics").items()
            if isinstance(figures, Mapping)
        },
        cost_usd=number(cost) if isinstance(cost, int | float) else None,
    )
