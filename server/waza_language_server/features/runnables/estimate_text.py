"""Short descriptions of the cost and duration of a run, for lenses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from waza_engine.counting import counted
from waza_engine.frozen import frozen

LEAST_SECONDS = 1.0
"""A shorter run needs no warning."""


@frozen()
class Estimate:
    """The engine's estimate of a run: trials, US dollars, seconds of wall clock; None is unknown.

    ``free`` is true if no paid model is used.
    """

    trials: int
    usd: float | None
    seconds: float | None
    free: bool = False


@frozen()
class SuiteEstimates:
    """The estimate of a whole suite, and those of its tasks by id."""

    suite: Estimate
    tasks: Mapping[str, Estimate] = field(default_factory=dict[str, Estimate])


def estimate_words(estimate: Estimate) -> str:
    """Return ``≈ $0.42 · 3 min · 12 trials``, without unknown parts; "" if nothing is worth showing."""
    cost = "" if estimate.free or estimate.usd is None else money(estimate.usd)
    time = "" if estimate.seconds is None else _time(estimate.seconds)
    if not cost and not time:
        return ""
    trials = counted(estimate.trials, "trial")
    return " · ".join(part for part in (f"≈ {cost or time}", time if cost else "", trials) if part)


def money(usd: float) -> str:
    """Return an amount with cents; less than half a cent is shown as less than one."""
    return f"${usd:,.2f}" if usd >= 0.005 or usd <= 0 else "< $0.01"


def _time(seconds: float) -> str:
    if seconds < LEAST_SECONDS:
        return ""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"
