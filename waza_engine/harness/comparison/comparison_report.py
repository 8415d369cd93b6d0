"""The report of a comparison: what each run reaches, and who is ahead for how many prompts.

The keys are those of agent-eval-harness. Rows that are not graded count in no mean and no rate; their number
is in ``ungradedCount``. A prompt counts for two runs when both have it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import combinations

from waza_engine.harness.comparison.compared_rows import (
    CaptureRecord,
    LoadedRun,
    Record,
    TrialsRecord,
    records_by_prompt,
)
from waza_engine.harness.comparison.strategies import Ranking, Strategy, bootstrap, iterations, ranked
from waza_engine.results.json_values import Json
from waza_engine.scoring.statistics import mean
from waza_engine.terminal import json_text

_BINS = ("0.0-0.2", "0.2-0.4", "0.4-0.6", "0.6-0.8", "0.8-1.0")
_BOUNDS = (0.2, 0.4, 0.6, 0.8)
_MOST_FLAKY = 10
Intervals = Callable[[Sequence[float]], list[float]] | None
"""Returns the interval of a mean; None when the report has none."""


class Comparison:
    """The comparison of runs of one kind; with ``intervals`` the means have theirs.

    ``prompts`` must be consumed before ``head_to_head`` is known: no memory holds all of them.
    """

    def __init__(
        self, runs: Sequence[LoadedRun], strategy: Strategy, seed: int | None, *, intervals: bool
    ) -> None:
        self._runs = runs
        self._strategy = strategy
        self._interval = _intervals(seed) if intervals else None
        self._is_trials = runs[0].kind == "trials"
        parts = ("capability", "reliability", "overall") if self._is_trials else ("pairwise",)
        labels = [run.label for run in runs]
        self._pairs = {
            part: [
                {"runA": first, "runB": second, "aWins": 0, "bWins": 0, "ties": 0}
                for first, second in combinations(labels, 2)
            ]
            for part in parts
        }

    def parts(self) -> Iterator[tuple[str, Json]]:
        """Yield the parts of the report about single runs, by their names."""
        ids = [records for _, records in records_by_prompt(self._runs)]
        meta: Json = {
            "generatedAt": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "runs": [run.label for run in self._runs],
            "promptCount": len(ids),
        }
        if not self._is_trials:
            yield "meta", {**meta, "promptsWithAllRuns": sum(len(each) == len(self._runs) for each in ids)}
            captures = {
                run.label: [each for each in run.records.values() if isinstance(each, CaptureRecord)]
                for run in self._runs
            }
            for name, of_run in _CAPTURE_PARTS.items():
                yield name, {label: of_run(found, self._interval) for label, found in captures.items()}
            return
        trials = {
            run.label: [(id_, each) for id_, each in run.records.items() if isinstance(each, TrialsRecord)]
            for run in self._runs
        }
        first = next((each for found in trials.values() for _, each in found), None)
        yield "meta", {**meta, "trialsPerPrompt": first.k if first else 0, "inputFormat": "trials"}
        for name, (of_run, is_known) in _TRIALS_PARTS.items():
            known = {
                label: [(id_, each) for id_, each in found if is_known(each)]
                for label, found in trials.items()
            }
            if any(known.values()):
                yield (
                    name,
                    {
                        label: {**of_run(some, self._interval), **_ungraded(len(trials[label]) - len(some))}
                        for label, some in known.items()
                        if some
                    },
                )

    def prompts(self) -> Iterator[Json]:
        """Yield the comparison of each prompt that two runs have at least."""
        for prompt, records in records_by_prompt(self._runs):
            if len(records) > 1:
                ranking = self._strategy(prompt, records)
                entry = self._trials_entry if self._is_trials else self._capture_entry
                yield {"id": prompt, **entry(records, ranking), "reasoning": ranking.reasoning}

    def head_to_head(self) -> Json:
        """Return for each pair of runs how often which is ahead."""
        return self._pairs

    def as_json(self) -> Iterator[bytes]:
        """Yield the report as JSON, part by part."""
        yield b"{\n"
        for name, part in self.parts():
            yield f'  "{name}": {json_text(part, indent=2)},\n'.encode()
        yield b'  "perPrompt": [' if self._is_trials else b'  "headToHead": {"prompts": ['
        between = b"\n    "
        for entry in self.prompts():
            yield between + json_text(entry).encode("utf-8", "replace")
            between = b",\n    "
        pairs = json_text(self.head_to_head(), indent=2)
        yield (
            f'],\n  "headToHead": {pairs}\n}}\n'.encode()
            if self._is_trials
            else f"], {pairs[1:]}\n}}\n".encode()
        )

    def _capture_entry(self, records: Mapping[str, Record], ranking: Ranking) -> Json:
        self._count("pairwise", ranking)
        captures = {run: each for run, each in records.items() if isinstance(each, CaptureRecord)}
        return {
            "winner": ranking.winner,
            "scores": dict(ranking.scores),
            "latencies": {run: each.duration or 0 for run, each in captures.items()},
            "hadErrors": {run: each.tool_errors for run, each in captures.items()},
        }

    def _trials_entry(self, records: Mapping[str, Record], ranking: Ranking) -> Json:
        found = {
            run: each for run, each in records.items() if isinstance(each, TrialsRecord) and each.is_graded
        }
        can = ranked({run: each.pass_at_k or 0.0 for run, each in found.items()}, "")
        does = ranked({run: each.pass_exp_k or 0.0 for run, each in found.items()}, "")
        # Nothing is ahead of a run without a verdict.
        are_compared = len(found) > 1
        for part, each in (("capability", can), ("reliability", does), ("overall", ranking)):
            self._count(part, each)
        return {
            "capabilityWinner": can.winner if are_compared else None,
            "reliabilityWinner": does.winner if are_compared else None,
            "passAtK": dict(can.scores),
            "passExpK": dict(does.scores),
            "flakiness": {run: each.flakiness for run, each in found.items()},
        }

    def _count(self, part: str, ranking: Ranking) -> None:
        for pair in self._pairs[part]:
            first, second = ranking.ranks.get(str(pair["runA"])), ranking.ranks.get(str(pair["runB"]))
            if first is not None and second is not None:
                key = "ties" if first == second else "aWins" if first < second else "bWins"
                pair[key] = int(pair[key]) + 1


def percentile(ordered: Sequence[float], share: float) -> float:
    """Return the value below which a share of the ordered values is, not interpolated; 0 of nothing."""
    return ordered[min(math.floor(len(ordered) * share), len(ordered) - 1)] if ordered else 0


def latency_statistics(values: Iterable[float]) -> Json:
    """Return percentiles, mean and range of times; zeros of nothing."""
    ordered = sorted(values)
    shares = {"p50": 0.5, "p90": 0.9, "p99": 0.99}
    return {
        **{name: percentile(ordered, share) for name, share in shares.items()},
        "mean": mean(ordered),
        "min": ordered[0] if ordered else 0,
        "max": ordered[-1] if ordered else 0,
    }


def score_distribution(scores: Iterable[float]) -> Json:
    """Return how many scores are in each fifth; the lower bound belongs to it, and 1 to the last."""
    counts: Json = dict.fromkeys(_BINS, 0)
    for score in scores:
        counts[_BINS[sum(score >= bound for bound in _BOUNDS)]] += 1
    return counts


def _quality(captures: Sequence[CaptureRecord], interval: Intervals) -> Json:
    scores = [each.score for each in captures if each.score is not None]
    passes = [float(each.passed) for each in captures if each.score is not None]
    passed, ungraded = int(sum(passes)), len(captures) - len(scores)
    return {
        "type": "run",
        "avgScore": mean(scores),
        "passRate": mean(passes),
        "passCount": passed,
        "failCount": len(scores) - passed,
        "scoreDistribution": score_distribution(scores),
        **_ungraded(ungraded),
        **_confidence(interval, avgScore=scores, passRate=passes),
    }


def _ungraded(count: int) -> Json:
    return {"ungradedCount": count} if count else {}


def _performance(captures: Sequence[CaptureRecord], interval: Intervals) -> Json:
    durations = [each.duration or 0 for each in captures]
    first = [each.first_response for each in captures if each.first_response is not None]
    return {
        "latency": latency_statistics(durations),
        **({"firstResponse": latency_statistics(first)} if first else {}),
        "totalDuration": sum(durations),
        **_confidence(interval, latencyMean=durations),
    }


def _reliability(captures: Sequence[CaptureRecord], interval: Intervals) -> Json:
    del interval
    return {
        "type": "run",
        "toolErrors": sum(each.tool_errors for each in captures),
        "toolErrorRate": mean([each.tool_errors for each in captures]),
        "timeouts": sum(each.timed_out for each in captures),
        "timeoutRate": mean([each.timed_out for each in captures]),
        "completionRate": mean([each.completed for each in captures]) if captures else 1,
    }


def _trajectories(captures: Sequence[CaptureRecord], interval: Intervals) -> Json:
    del interval
    richness = captures[0].richness if captures else "minimal"
    return {"richness": richness, "avgStepCount": mean([each.steps for each in captures])}


_CAPTURE_PARTS = {
    "quality": _quality,
    "performance": _performance,
    "reliability": _reliability,
    "trajectoryInfo": _trajectories,
}
_Trials = Sequence[tuple[str, TrialsRecord]]


def _capability(trials: _Trials, interval: Intervals) -> Json:
    return _quartiles("PassAtK", [each.pass_at_k or 0.0 for _, each in trials], interval)


def _trials_reliability(trials: _Trials, interval: Intervals) -> Json:
    rates = [each.pass_exp_k or 0.0 for _, each in trials]
    return {"type": "trial", **_quartiles("PassExpK", rates, interval)}


def flakiness_statistics(trials: _Trials, interval: Intervals = None) -> Json:
    """Return how far pass@k and pass^k are apart, and the ten prompts where they are furthest apart."""
    del interval
    values = sorted(each.flakiness for _, each in trials)
    flaky = [{"id": id_, "flakiness": each.flakiness} for id_, each in trials if each.flakiness > 0]
    flaky.sort(key=lambda each: -float(each["flakiness"]))
    return {
        "avgFlakiness": mean(values),
        "medianFlakiness": percentile(values, 0.5),
        "flakyPromptCount": len(flaky),
        "topFlakyPrompts": flaky[:_MOST_FLAKY],
    }


def _trials_performance(trials: _Trials, interval: Intervals) -> Json:
    durations = [duration for _, each in trials for duration in each.durations]
    return {
        "latency": latency_statistics(durations),
        "totalDuration": sum(durations),
        **_confidence(interval, latencyMean=durations),
    }


def _trials_quality(trials: _Trials, interval: Intervals) -> Json:
    return {
        "type": "trial",
        **_quartiles("Score", [score for _, each in trials for score in each.scores], interval),
    }


_TRIALS_PARTS: Mapping[str, tuple[Callable[[_Trials, Intervals], Json], Callable[[TrialsRecord], bool]]] = {
    "capability": (_capability, lambda each: each.is_graded),
    "reliability": (_trials_reliability, lambda each: each.is_graded),
    "flakiness": (flakiness_statistics, lambda each: each.is_graded),
    "performance": (_trials_performance, lambda each: True),
    "quality": (_trials_quality, lambda each: bool(each.scores)),
}
"""The parts of a report, and which rows count in them."""


def _quartiles(name: str, values: Sequence[float], interval: Intervals) -> Json:
    ordered = sorted(values)
    return {
        f"avg{name}": mean(values),
        f"median{name}": percentile(ordered, 0.5),
        f"p25{name}": percentile(ordered, 0.25),
        f"p75{name}": percentile(ordered, 0.75),
        **_confidence(interval, **{f"avg{name}": values}),
    }


def _intervals(seed: int | None) -> Intervals:
    draw, count = random.Random(seed), iterations()

    def interval(values: Sequence[float]) -> list[float]:
        found = bootstrap(values, draw, count)
        return [found.lower, found.upper]

    return interval


def _confidence(interval: Intervals, **samples: Sequence[float]) -> Json:
    if interval is None:
        return {}
    return {"confidenceIntervals": {name: interval(values) for name, values in samples.items()}}
