"""The effect of the skills, a task with them compared with the same task without; and which model to take."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

_LEAST_BASELINE = 0.01


@dataclass(frozen=True, slots=True)
class PairwiseImpact:
    """How the answers compared over all trials: ``winner`` is ``skill``, ``baseline`` or ``tie``.

    ``wins`` and ``losses`` are those of the answers with skills. ``magnitude`` and ``reasoning`` are those of
    the first comparison that went the same way; ``position_consistent`` holds when every one was.
    """

    winner: str
    magnitude: str
    reasoning: str
    position_consistent: bool
    wins: int = 0
    ties: int = 0
    losses: int = 0


@dataclass(frozen=True, slots=True)
class SkillImpact:
    """Pass rates 0..1 with and without skills. ``percent_change`` is relative to that without.

    Without a verdict on the baseline, its pass rate and the values derived from it are None.
    """

    pass_rate_with_skills: float
    pass_rate_baseline: float | None = None
    delta: float | None = None
    percent_change: float | None = None
    pairwise: PairwiseImpact | None = None


def skill_impact(
    with_skills: float, baseline: float | None, pairwise: PairwiseImpact | None = None
) -> SkillImpact:
    """Return the impact of two pass rates: 2/3 after 1/3 is a change of +100 percent."""
    if baseline is None:
        return SkillImpact(with_skills, pairwise=pairwise)
    delta = with_skills - baseline
    percent = delta / max(baseline, _LEAST_BASELINE) * 100
    return SkillImpact(with_skills, baseline, delta, percent, pairwise)


def pairwise_impact(details: Sequence[Mapping[str, object]]) -> PairwiseImpact | None:
    """Return the summary of graders' ``pairwise`` details, None without any."""
    winners = [found.get("winner") for found in details]
    wins, ties, losses = (winners.count(name) for name in ("skill", "tie", "baseline"))
    if not wins + ties + losses:
        return None
    winner = "skill" if wins > losses else "baseline" if losses > wins else "tie"
    nothing: Mapping[str, object] = {}
    like = next((found for found in details if found.get("winner") == winner), nothing)
    return PairwiseImpact(
        winner=winner,
        magnitude=str(like.get("magnitude") or "equal"),
        reasoning=str(like.get("reasoning") or ""),
        position_consistent=all(found.get("position_consistent") is not False for found in details),
        wins=wins,
        ties=ties,
        losses=losses,
    )


@dataclass(frozen=True, slots=True)
class ComparedRates:
    """Shares 0..1 of the tasks judged both times that pass with skills and without, and their number."""

    with_skills: float
    baseline: float
    tasks: int


def compared_rates(with_skills: Mapping[str, str], baseline: Mapping[str, str]) -> ComparedRates | None:
    """Return the rates of two passes, of each the status of its tasks by id; None when they share no verdict.

    A skipped task has no verdict: it neither passed nor failed.
    """
    pairs = [
        (status, baseline[name])
        for name, status in with_skills.items()
        if status != "skipped" and baseline.get(name, "skipped") != "skipped"
    ]
    if not pairs:
        return None
    passed, before = (sum(pair[side] == "passed" for pair in pairs) for side in (0, 1))
    return ComparedRates(passed / len(pairs), before / len(pairs), len(pairs))


def improves(with_skills: float, baseline: float) -> bool:
    """Return whether the skills are worth having: a higher success rate, or nothing left to improve.

    Upstream fails a skill that passes everything if its baseline does so too.
    """
    return with_skills > baseline or with_skills == baseline == 1.0


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
