"""What the skills add: a task with them beside the same task without (reference waza.md §3.8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_LEAST_BASELINE = 0.01


@dataclass(frozen=True, slots=True)
class PairwiseImpact:
    """How the answers compared, counted over trials: better with skills, as good, worse."""

    wins: int = 0
    ties: int = 0
    losses: int = 0


@dataclass(frozen=True, slots=True)
class SkillImpact:
    """Pass rates 0..1 with and without skills; ``percent_change`` is relative to the latter, at least 0.01."""

    pass_rate_with_skills: float
    pass_rate_baseline: float
    delta: float
    percent_change: float
    pairwise: PairwiseImpact | None = None


def skill_impact(with_skills: float, baseline: float, pairwise: PairwiseImpact | None = None) -> SkillImpact:
    """Return the impact of two pass rates: 2/3 after 1/3 is a change of +100 percent."""
    delta = with_skills - baseline
    percent = delta / max(baseline, _LEAST_BASELINE) * 100
    return SkillImpact(with_skills, baseline, delta, percent, pairwise)


def pairwise_impact(details: Sequence[Mapping[str, object]]) -> PairwiseImpact | None:
    """Return the count of comparisons from the ``pairwise`` details of graders, None without any."""
    winners = [found.get("winner") for found in details]
    counts = {name: winners.count(name) for name in ("skill", "tie", "baseline")}
    if not any(counts.values()):
        return None
    return PairwiseImpact(counts["skill"], counts["tie"], counts["baseline"])


def improves(with_skills: float, baseline: float) -> bool:
    """Return whether the skills are worth having: a higher success rate, or nothing left to improve.

    Upstream calls a skill that passes everything beside a baseline that does so too a failure.
    """
    return with_skills > baseline or with_skills == baseline == 1.0
