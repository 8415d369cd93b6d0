"""The report of a comparison: what each run reaches, and who is ahead for how many prompts.

The keys are those of agent-eval-harness. Rows that are not graded count in no mean and no rate; their number
is in ``ungradedCount``. A prompt counts for two runs when both have it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import combinations

from waza_engine.harness.comparison.records import (
    CaptureRecord,
    LoadedRun,
    Record,
    TrialsRecord,
    records_by_prompt,
)
from waza_engine.harness.comparison.strategies import Ranking, Strategy, bootstrap, iterations, ranked
from waza_engine.results.json_values import Json

_BINS = ("0.0-0.2", "0.2-0.4", "0.4-0.6", "0.6-0.8", "0.8-1.0")
_MOST_FLAKY = 10
Intervals = Callable[[Sequence[float]], list[float]]
"""Returns the interval of a mean."""


def percentile(ordered: Sequence[float], share: float) -> float:
    """Return the value below which a share of the ordered values is, not interpolated; 0 of nothing."""
    return ordered[min(math.floor(len(ordered) * share), len(ordered) - 1)] if ordered else 0


def latency_statistics(values: Iterable[float]) -> Json:
    """Return percentiles, mean and range of times; zeros of nothing."""
    ordered = sorted(values)
    return {
        "p50": percentile(ordered, 0.5),
        "p90": percentile(ordered, 0.9),
        "p99": percentile(ordered, 0.99),
        "mean": _mean(ordered),
        "min": ordered[0] if ordered else 0,
        "max": ordered[-1] if ordered else 0,
    }


def score_distribution(scores: Iterable[float]) -> Json:
    """Return how many scores are in each fifth; the lower bound belongs to it, and 1 to the last."""
    counts: Json = dict.fromkeys(_BINS, 0)
    for score in scores:
        at = sum(score >= bound for bound in (0.2, 0.4, 0.6, 0.8))
        counts[_BINS[at]] += 1
    return counts


def capture_report(
    runs: Sequence[LoadedRun], strategy: Strategy, seed: int | None, *, intervals: bool
) -> Json:
    """Return the report of captures; with ``intervals`` the means have theirs."""
    interval = _intervals(seed)
    captures = {
        run.label: [each for each in run.records.values() if isinstance(each, CaptureRecord)] for run in runs
    }
    prompts: list[Json] = []
    rankings: list[Ranking] = []
    total = 0
    for prompt, records in records_by_prompt(runs):
        total += 1
        if len(records) > 1:
            ranking = strategy(prompt, records)
            rankings.append(ranking)
            prompts.append(_prompt_entry(prompt, records, ranking))
    return {
        "meta": {
            **_meta(runs, total),
            "promptsWithAllRuns": sum(len(each.scores) == len(runs) for each in rankings),
        },
        "quality": {
            label: _quality(found, interval if intervals else None) for label, found in captures.items()
        },
        "performance": {
            label: _performance(found, interval if intervals else None) for label, found in captures.items()
        },
        "reliability": {label: _reliability(found) for label, found in captures.items()},
        "trajectoryInfo": {label: _trajectories(found) for label, found in captures.items()},
        "headToHead": {"prompts": prompts, "pairwise": pairwise(runs, [each.ranks for each in rankings])},
    }


def _prompt_entry(prompt: str, records: Mapping[str, Record], ranking: Ranking) -> Json:
    captures = {run: each for run, each in records.items() if isinstance(each, CaptureRecord)}
    return {
        "id": prompt,
        "winner": ranking.winner,
        "scores": dict(ranking.scores),
        "latencies": {run: each.duration or 0 for run, each in captures.items()},
        "hadErrors": {run: each.tool_errors for run, each in captures.items()},
        "reasoning": ranking.reasoning,
    }


def _quality(captures: Sequence[CaptureRecord], interval: Intervals | None) -> Json:
    graded = [each for each in captures if each.score is not None]
    scores = [each.score or 0.0 for each in graded]
    passed = sum(each.passed for each in graded)
    ungraded = len(captures) - len(graded)
    return {
        "type": "run",
        "avgScore": _mean(scores),
        "passRate": _share(passed, len(graded)),
        "passCount": passed,
        "failCount": len(graded) - passed,
        "scoreDistribution": score_distribution(scores),
        **({"ungradedCount": ungraded} if ungraded else {}),
        **_confidence(interval, avgScore=scores, passRate=[float(each.passed) for each in graded]),
    }


def _performance(captures: Sequence[CaptureRecord], interval: Intervals | None) -> Json:
    durations = [each.duration or 0 for each in captures]
    first = [each.first_response for each in captures if each.first_response is not None]
    return {
        "latency": latency_statistics(durations),
        **({"firstResponse": latency_statistics(first)} if first else {}),
        "totalDuration": sum(durations),
        **_confidence(interval, latencyMean=durations),
    }


def _reliability(captures: Sequence[CaptureRecord]) -> Json:
    errors = sum(each.tool_errors for each in captures)
    timeouts = sum(each.timed_out for each in captures)
    completed = sum(each.completed for each in captures)
    return {
        "type": "run",
        "toolErrors": errors,
        "toolErrorRate": _share(errors, len(captures)),
        "timeouts": timeouts,
        "timeoutRate": _share(timeouts, len(captures)),
        "completionRate": _share(completed, len(captures)) if captures else 1,
    }


def _trajectories(captures: Sequence[CaptureRecord]) -> Json:
    richness = captures[0].richness if captures else "minimal"
    return {"richness": richness, "avgStepCount": _mean([each.steps for each in captures])}


def trials_report(
    runs: Sequence[LoadedRun], strategy: Strategy, seed: int | None, *, intervals: bool
) -> Json:
    """Return the report of trials; with ``intervals`` the means have theirs."""
    interval = _intervals(seed) if intervals else None
    trials = {run.label: _trials_of(run) for run in runs}
    prompts: list[Json] = []
    rankings: list[Ranking] = []
    capability: list[Mapping[str, int]] = []
    reliability: list[Mapping[str, int]] = []
    total = 0
    for prompt, records in records_by_prompt(runs):
        total += 1
        if len(records) < 2:
            continue
        rankings.append(strategy(prompt, records))
        found = {run: each for run, each in records.items() if isinstance(each, TrialsRecord)}
        can = ranked({run: each.pass_at_k or 0.0 for run, each in found.items()}, "")
        does = ranked({run: each.pass_exp_k or 0.0 for run, each in found.items()}, "")
        capability.append(can.ranks)
        reliability.append(does.ranks)
        prompts.append(
            {
                "id": prompt,
                "capabilityWinner": can.winner,
                "reliabilityWinner": does.winner,
                "passAtK": dict(can.scores),
                "passExpK": dict(does.scores),
                "flakiness": {run: each.flakiness for run, each in found.items()},
                "reasoning": rankings[-1].reasoning,
            }
        )
    quality = {
        label: _trials_quality(found, interval)
        for label, found in trials.items()
        if any(each.scores for _, each in found)
    }
    first = next((each for found in trials.values() for _, each in found), None)
    return {
        "meta": {**_meta(runs, total), "trialsPerPrompt": first.k if first else 0, "inputFormat": "trials"},
        "capability": {
            label: _quartiles("PassAtK", [each.pass_at_k or 0.0 for _, each in found], interval)
            for label, found in trials.items()
        },
        "reliability": {
            label: {
                "type": "trial",
                **_quartiles("PassExpK", [each.pass_exp_k or 0.0 for _, each in found], interval),
            }
            for label, found in trials.items()
        },
        "flakiness": {label: flakiness_statistics(found) for label, found in trials.items()},
        **({"quality": quality} if quality else {}),
        "performance": {label: _trials_performance(found, interval) for label, found in trials.items()},
        "headToHead": {
            "capability": pairwise(runs, capability),
            "reliability": pairwise(runs, reliability),
            "overall": pairwise(runs, [each.ranks for each in rankings]),
        },
        "perPrompt": prompts,
    }


def _trials_of(run: LoadedRun) -> list[tuple[str, TrialsRecord]]:
    return [(id_, each) for id_, each in run.records.items() if isinstance(each, TrialsRecord)]


def flakiness_statistics(trials: Sequence[tuple[str, TrialsRecord]]) -> Json:
    """Return how far pass@k and pass^k are apart, and the ten prompts where they are furthest apart."""
    values = sorted(each.flakiness for _, each in trials)
    flaky = sorted(
        ((id_, each.flakiness) for id_, each in trials if each.flakiness > 0), key=lambda pair: -pair[1]
    )
    return {
        "avgFlakiness": _mean(values),
        "medianFlakiness": percentile(values, 0.5),
        "flakyPromptCount": len(flaky),
        "topFlakyPrompts": [{"id": id_, "flakiness": value} for id_, value in flaky[:_MOST_FLAKY]],
    }


def _trials_quality(trials: Sequence[tuple[str, TrialsRecord]], interval: Intervals | None) -> Json:
    return {
        "type": "trial",
        **_quartiles("Score", [score for _, each in trials for score in each.scores], interval),
    }


def _trials_performance(trials: Sequence[tuple[str, TrialsRecord]], interval: Intervals | None) -> Json:
    durations = [duration for _, each in trials for duration in each.durations]
    return {
        "latency": latency_statistics(durations),
        "totalDuration": sum(durations),
        **_confidence(interval, latencyMean=durations),
    }


def _quartiles(name: str, values: Sequence[float], interval: Intervals | None) -> Json:
    ordered = sorted(values)
    return {
        f"avg{name}": _mean(values),
        f"median{name}": percentile(ordered, 0.5),
        f"p25{name}": percentile(ordered, 0.25),
        f"p75{name}": percentile(ordered, 0.75),
        **_confidence(interval, **{f"avg{name}": values}),
    }


def pairwise(runs: Sequence[LoadedRun], ranks: Sequence[Mapping[str, int]]) -> list[Json]:
    """Return for each pair of runs how often which is ahead, among the prompts that both have."""
    found: list[Json] = []
    for first, second in combinations([run.label for run in runs], 2):
        pairs = [(each[first], each[second]) for each in ranks if first in each and second in each]
        found.append(
            {
                "runA": first,
                "runB": second,
                "aWins": sum(a < b for a, b in pairs),
                "bWins": sum(b < a for a, b in pairs),
                "ties": sum(a == b for a, b in pairs),
            }
        )
    return found


def _meta(runs: Sequence[LoadedRun], prompts: int) -> Json:
    return {
        "generatedAt": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "runs": [run.label for run in runs],
        "promptCount": prompts,
    }


def _intervals(seed: int | None) -> Intervals:
    draw, count = random.Random(seed), iterations()

    def interval(values: Sequence[float]) -> list[float]:
        found = bootstrap(values, draw, count)
        return [found.lower, found.upper]

    return interval


def _confidence(interval: Intervals | None, **samples: Sequence[float]) -> Json:
    if interval is None:
        return {}
    return {"confidenceIntervals": {name: interval(values) for name, values in samples.items()}}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0


def _share(count: int, total: int) -> float:
    return count / total if total else 0
