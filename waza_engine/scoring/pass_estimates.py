"""How often new trials of a task would pass, estimated from its recorded trials: pass@k and pass^k.

Every figure of this kind that a report, a record or an editor shows comes from ``pass_estimates``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from waza_engine.frozen import frozen
from waza_engine.number_formats import format_score
from waza_engine.scoring.statistics import Interval, RateInterval, bootstrap, mean, wilson

_MOST_RESAMPLES, _FEWEST_RESAMPLES, _MOST_DRAWN = 1_000, 200, 200_000
"""Enough for two digits. Reports compute them each time, so that many tasks are drawn less often (0.05 s)."""


@frozen()
class PassEstimates:
    """Estimates from ``passed`` of ``total`` independent trials; all are chances, 0..1.

    ``rate`` is the observed share of passed trials with Wilson's 95 % interval. ``pass_at_k`` and
    ``pass_exp_k`` estimate that one, or every one, of k = ``total`` new trials passes. They are plug-in
    estimates: they take the observed rate for the true one (as agent-eval-harness does), so they are 0 or 1
    when all trials agree; their intervals show how little few trials say.
    """

    passed: int
    total: int
    rate: RateInterval
    pass_at_k: RateInterval
    pass_exp_k: RateInterval

    @property
    def label(self) -> str:
        """Return them in short, for the end of a line: ``pass@5 0.99 · pass^5 0.08``."""
        at, exp = format_score(self.pass_at_k.rate), format_score(self.pass_exp_k.rate)
        return f"pass@{self.total} {at} · pass^{self.total} {exp}"

    @property
    def words(self) -> str:
        """Return them with their intervals: ``pass@5 0.98 (0.73–1.00), pass^5 0.07 (0.00–0.53)``."""
        at, exp = self.pass_at_k, self.pass_exp_k
        return f"pass@{self.total} {_shown(at.rate, at)}, pass^{self.total} {_shown(exp.rate, exp)}"

    def unbiased_pass_at(self, trials: int) -> float:
        """Return the unbiased estimate that one of so many new trials passes: 1 - C(n-c, m) / C(n, m).

        ``trials`` is m, at least 1 and at most ``total``; it says most for m well below ``total``, and with
        m = ``total`` it is 1 as soon as one trial passed. 3 of 5 give 0.6 for 1 trial, 0.9 for 2.
        """
        return 1 - _all_of(self.total - self.passed, self.total, trials)

    def unbiased_pass_exp(self, trials: int) -> float:
        """Return the unbiased estimate that all of so many new trials pass: C(c, m) / C(n, m)."""
        return _all_of(self.passed, self.total, trials)


def pass_estimates(passed: int, total: int) -> PassEstimates:
    """Return the estimates for a task of which ``passed`` of ``total`` trials passed.

    3 of 5 give pass@5 0.98976 and pass^5 0.07776; of no trials all chances are 0, with the interval 0 to 1.
    """
    total = max(total, 0)
    # The numbers in a file may be inconsistent.
    passed = min(max(passed, 0), total)
    rate = wilson(passed, total)
    at, exp = (
        RateInterval(chance(rate.lower, total), chance(rate.upper, total), chance(rate.rate, total))
        for chance in (pass_at, pass_exp)
    )
    return PassEstimates(passed, total, rate, at, exp) if total else PassEstimates(0, 0, rate, rate, rate)


@frozen()
class MeanPassEstimates:
    """The means of the estimates of several tasks, with bootstrap intervals over the tasks.

    ``trials`` is k, the number of trials of each task; 0 where tasks differ.
    """

    trials: int
    pass_at_k: Interval
    pass_exp_k: Interval

    @property
    def words(self) -> str:
        """Return them as ``PassEstimates.words`` does."""
        k, at, exp = self.trials or "k", self.pass_at_k, self.pass_exp_k
        return f"pass@{k} {_shown(at.mean, at)}, pass^{k} {_shown(exp.mean, exp)}"


def mean_pass_estimates(tasks: Sequence[PassEstimates]) -> MeanPassEstimates | None:
    """Return the means over tasks, None without any."""
    if not tasks:
        return None
    totals = {task.total for task in tasks}
    resamples = min(max(_MOST_DRAWN // len(tasks), _FEWEST_RESAMPLES), _MOST_RESAMPLES)
    return MeanPassEstimates(
        totals.pop() if len(totals) == 1 else 0,
        bootstrap([task.pass_at_k.rate for task in tasks], resamples),
        bootstrap([task.pass_exp_k.rate for task in tasks], resamples),
    )


def pass_at(rate: float, trials: int) -> float:
    """Return the chance that one of so many trials passes if each passes with ``rate``."""
    return 1 - (1 - rate) ** trials


def pass_exp(rate: float, trials: int) -> float:
    """Return the chance that all of so many trials pass if each passes with ``rate``."""
    return rate**trials


def pass_hat_k(counts: Sequence[tuple[int, int]]) -> tuple[float, ...]:
    """Return, for 1 trial and more, the unbiased chance that all of so many pass, as the mean over all tasks.

    ``counts`` are the passed trials and all trials of each task; there are as many chances as the task with
    the fewest has trials. Tasks with 5, 4 and 2 of 5 give .7333, .5667, .4667, .4, .3333.
    """
    tasks = [pass_estimates(passed, total) for passed, total in counts]
    fewest = min((task.total for task in tasks), default=0)
    return tuple(mean([task.unbiased_pass_exp(k) for task in tasks]) for k in range(1, fewest + 1))


def _shown(value: float, interval: RateInterval | Interval) -> str:
    return f"{format_score(value)} ({format_score(interval.lower)}–{format_score(interval.upper)})"


def _all_of(some: int, total: int, drawn: int) -> float:
    """Return the chance that ``drawn`` of ``total`` trials, each drawn once, are all among ``some``.

    Raises:
        ValueError: ``drawn`` is not between 1 and ``total``.

    """
    if not 1 <= drawn <= total:
        raise ValueError(f"{drawn} of {total} trials cannot be drawn")
    return math.comb(some, drawn) / math.comb(total, drawn)
