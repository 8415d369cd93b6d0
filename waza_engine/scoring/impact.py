"""The effect of the skills: a task with them compared with the same task without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    """Pass rates 0..1 with and without skills; ``percent_change`` is relative to the latter, or to 0.01.

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
