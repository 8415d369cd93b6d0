"""Recommend one of several models."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

_WEIGHTS = {"aggregate": 0.4, "pass_rate": 0.3, "consistency": 0.2, "speed": 0.1}
_BEST = 10.0
_ALL_EQUAL = 5.0


@dataclass(frozen=True, slots=True)
class ModelFigures:
    """A model's results: scores and rates 0..1, spread of the task scores, wall clock in milliseconds."""

    model: str
    aggregate_score: float
    pass_rate: float
    std_dev: float
    duration_ms: int


@dataclass(frozen=True, slots=True)
class RankedModel:
    """A model with its points, 0 to 10, altogether and for each criterion."""

    model: str
    score: float
    aggregate: float
    pass_rate: float
    consistency: float
    speed: float


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The models, best first; the winner's margin in percent of the runner-up, 0 when that has no points."""

    ranking: tuple[RankedModel, ...]
    margin_percent: float

    @property
    def winner(self) -> RankedModel:
        """The recommended model."""
        return self.ranking[0]


def recommend(models: Sequence[ModelFigures]) -> Recommendation | None:
    """Return the ranking of two models or more, None for fewer. Models with equal points keep their order."""
    if len(models) < 2:
        return None
    aggregate = _points([found.aggregate_score for found in models])
    pass_rate = _points([found.pass_rate for found in models])
    consistency = _points([-found.std_dev for found in models])
    speed = _points([-float(found.duration_ms) for found in models])
    ranked = [
        RankedModel(found.model, _total(*points), *points)
        for found, *points in zip(models, aggregate, pass_rate, consistency, speed, strict=True)
    ]
    ranking = tuple(sorted(ranked, key=lambda model: -model.score))
    first, second = ranking[0].score, ranking[1].score
    margin = (first - second) / second * 100 if second > 0 else 0.0
    return Recommendation(ranking, margin)


def settled(
    found: Recommendation, tied: Collection[str], costs: Mapping[str, float | None]
) -> Recommendation:
    """Return the ranking with the cheapest of the ``tied`` models first, which include the winner.

    Differences within chance decide nothing between them. An unknown price changes nothing.
    """
    among = [model for model in found.ranking if model.model in tied]
    if len(among) < 2:
        return found
    first = among[0]
    if price_decides(tied, costs):
        first = min(among, key=lambda model: costs[model.model] or 0.0)
    rest = tuple(model for model in found.ranking if model is not first)
    return Recommendation((first, *rest), 0.0)


def price_decides(tied: Collection[str], costs: Mapping[str, float | None]) -> bool:
    """Return whether the prices of the ``tied`` models are known and differ."""
    prices = {costs.get(model) for model in tied}
    return len(prices) > 1 and None not in prices


def _points(values: Sequence[float]) -> list[float]:
    """Return the values from 0 (the least) to 10 (the most); 5 each when they are all the same."""
    least, most = min(values), max(values)
    if most == least:
        return [_ALL_EQUAL] * len(values)
    return [(value - least) / (most - least) * _BEST for value in values]


def _total(*points: float) -> float:
    return round(sum(weight * value for weight, value in zip(_WEIGHTS.values(), points, strict=True)), 1)
