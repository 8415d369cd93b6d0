"""How the runs of one prompt are ranked: weighted, statistical, or by a grader file."""

from __future__ import annotations

import json
import math
import os
import random
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

from waza_engine.graders.programs.program_output import UnusableAnswerError
from waza_engine.harness.comparison.compared_rows import CaptureRecord, LoadedRun, Record, TrialsRecord
from waza_engine.harness.row_grading import TIMEOUT_SECONDS
from waza_engine.harness.row_values import score_in
from waza_engine.harness.rows import HarnessError
from waza_engine.harness.warm_grader import WarmGrader
from waza_engine.number_formats import ROUNDING, is_finite
from waza_engine.results.json_values import Json, block_of, blocks_of, items_of, text_of
from waza_engine.scoring.pass_estimates import pass_at
from waza_engine.scoring.statistics import CONFIDENCE, resampled_means

ITERATIONS = 1_000
_FEWEST_ITERATIONS = 100
_UNKNOWN_MILLISECONDS = 10_000.0
_NUMBER = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


@dataclass(frozen=True, slots=True)
class Ranking:
    """The scores and the ranks of runs; equal scores share a rank, the best is 1."""

    scores: Mapping[str, float]
    ranks: Mapping[str, int]
    reasoning: str

    @property
    def winner(self) -> str | None:
        """Return the run that is ahead of all others, None for a tie."""
        best = [run for run, rank in self.ranks.items() if rank == 1]
        return best[0] if len(best) == 1 else None


Strategy = Callable[[str, Mapping[str, Record]], Ranking]
"""Ranks the runs of a prompt, from its id and the records by the label of their run."""


def strategy_of(
    name: str | None, grader: Path | None, runs: Sequence[LoadedRun], seed: int | None, stack: ExitStack
) -> Strategy:
    """Return a strategy by its name; without one a grader decides. Raises ``HarnessError``."""
    if grader is None and name != "custom":
        draw = random.Random(seed)
        return statistical(draw) if name == "statistical" else weighted()
    if grader is None or name not in (None, "custom"):
        raise HarnessError("--grader and --strategy custom need each other.")
    return custom(grader, runs, stack)


def ranked(scores: Mapping[str, float], reasoning: str) -> Ranking:
    """Return the ranking by scores; those that differ by a rounding error are equal."""
    ranks = {
        run: 1 + sum(other > score + ROUNDING for other in scores.values()) for run, score in scores.items()
    }
    return Ranking(scores, ranks, reasoning)


def weighted() -> Strategy:
    """Return the strategy that adds quality, speed and reliability, or pass@k, pass^k and consistency.

    The weights of captures are ``COMPARE_QUALITY`` (.5), ``COMPARE_LATENCY`` (.3) and
    ``COMPARE_RELIABILITY`` (.2), those of trials ``COMPARE_CAPABILITY`` (.4), ``COMPARE_RELIABILITY`` (.4)
    and ``COMPARE_CONSISTENCY`` (.2).
    """
    of_capture = [
        _weight("COMPARE_QUALITY", 0.5),
        _weight("COMPARE_LATENCY", 0.3),
        _weight("COMPARE_RELIABILITY", 0.2),
    ]
    of_trials = [
        _weight("COMPARE_CAPABILITY", 0.4, least=0.0),
        _weight("COMPARE_RELIABILITY", 0.4, least=0.0),
        _weight("COMPARE_CONSISTENCY", 0.2, least=0.0),
    ]

    def rank(prompt: str, records: Mapping[str, Record]) -> Ranking:
        del prompt
        is_trials = any(isinstance(record, TrialsRecord) for record in records.values())
        weights = of_trials if is_trials else of_capture
        scores = {
            run: sum(weight * part for weight, part in zip(weights, _parts(record), strict=True))
            for run, record in _comparable(records).items()
        }
        names = ("pass@k", "pass^k", "consistency") if is_trials else ("quality", "latency", "reliability")
        shown = ", ".join(f"{name} {weight:g}" for name, weight in zip(names, weights, strict=True))
        return ranked(scores, f"Weights: {shown}")

    return rank


def _comparable(records: Mapping[str, Record]) -> Mapping[str, Record]:
    """Return the records without trials that no grader has judged."""
    return {
        run: record
        for run, record in records.items()
        if isinstance(record, CaptureRecord) or record.is_graded
    }


def _parts(record: Record) -> tuple[float, float, float]:
    if isinstance(record, TrialsRecord):
        return record.pass_at_k or 0.0, record.pass_exp_k or 0.0, 1 - record.flakiness
    duration = _UNKNOWN_MILLISECONDS if record.duration is None else record.duration
    return record.score or 0.0, 1 / (1 + duration / 1000), 0.0 if record.tool_errors else 1.0


def _weight(name: str, default: float, least: float = -math.inf) -> float:
    """Return the number that a variable begins with, or the default."""
    found = _NUMBER.match(os.environ.get(name, ""))
    value = float(found[0]) if found else default
    return value if value >= least and is_finite(value) else default


def iterations() -> int:
    """Return how often samples are drawn again: ``COMPARE_BOOTSTRAP_ITERATIONS``, 1000 below 100."""
    count = int(_weight("COMPARE_BOOTSTRAP_ITERATIONS", ITERATIONS))
    return count if count >= _FEWEST_ITERATIONS else ITERATIONS


@dataclass(frozen=True, slots=True)
class Interval:
    """The median of resampled values, and the interval that holds 95 % of them."""

    median: float
    lower: float
    upper: float


def bootstrap(
    samples: Sequence[float], draw: random.Random, count: int, of_mean: Callable[[float], float] = float
) -> Interval:
    """Return the interval of the mean of samples, drawn again ``count`` times.

    ``of_mean`` transforms it, and must not fall.
    """
    if not samples:
        return Interval(0.0, 0.0, 0.0)
    tail = (1 - CONFIDENCE) / 2
    if len(set(samples)) == 1:
        value = of_mean(samples[0])
        return Interval(value, value, value)
    values = list(map(of_mean, resampled_means(samples, count, draw)))
    return Interval(
        values[count // 2], values[math.floor(count * tail)], values[math.floor(count * (1 - tail))]
    )


def statistical(draw: random.Random) -> Strategy:
    """Return the strategy that compares intervals: of pass@k for trials, of the score for captures.

    A capture has one score, so that its interval is a point.
    """
    count = iterations()

    def interval(record: Record) -> Interval:
        if isinstance(record, TrialsRecord):
            return bootstrap(list(record.passed), draw, count, partial(pass_at, trials=max(1, record.k)))
        return bootstrap([record.score or 0.0], draw, count)

    def rank(prompt: str, records: Mapping[str, Record]) -> Ranking:
        del prompt
        found = {run: interval(record) for run, record in _comparable(records).items()}
        if len(found) < 2:
            return ranked({}, "Fewer than two runs are graded")
        first, second, *_ = sorted(found, key=lambda run: -found[run].median)
        is_apart = found[first].lower > found[second].upper
        if any(isinstance(record, CaptureRecord) for record in records.values()):
            apart = f"`{first}` is ahead; with one answer each, any difference is statistically significant"
            same = "The scores are equal"
        else:
            apart = f"`{first}` is ahead with clear separation: the 95% intervals of pass@k do not overlap"
            same = "No clear winner: the 95% intervals of pass@k overlap"
        scores = {run: each.median for run, each in found.items()}
        return ranked(scores, apart if is_apart else same)

    return rank


def custom(grader: Path, runs: Sequence[LoadedRun], stack: ExitStack) -> Strategy:
    """Return the strategy of a grader file: a module, or a program with JSON in and out.

    ``stack`` ends its processes. Raises ``HarnessError`` for an unusable file; the strategy raises it, too,
    because a comparison without some prompts would be another one.
    """
    loaded = {run.label: run for run in runs}
    try:
        warm = WarmGrader(grader.absolute(), timeout_seconds=TIMEOUT_SECONDS, compares=True)
    except UnusableAnswerError as error:
        raise HarnessError(f"{error}.") from None
    stack.callback(warm.close)

    def rank(prompt: str, records: Mapping[str, Record]) -> Ranking:
        rows = {run: loaded[run].row(record) for run, record in records.items()}
        first = next(iter(rows.values()))
        shared = {key: first[key] for key in ("input", "hint", "metadata") if key in first}
        question = {"id": prompt, **shared, "runs": {run: _run_data(row) for run, row in rows.items()}}
        try:
            return _ranking_in(warm.ask(json.dumps(question), None), rows)
        except UnusableAnswerError as error:
            raise HarnessError(f"{grader.name} cannot compare `{prompt}`: {error}.") from None

    return rank


def _run_data(row: Json) -> Json:
    if "trials" in row:
        keys = ("passRate", "passAtK", "passExpK", "k", "trials")
        return {key: row[key] for key in keys if key in row}
    score, timing = score_in(row), block_of(row, "timing")
    return {
        "output": text_of(row.get("output")),
        "trajectory": items_of(row.get("trajectory")),
        **({} if score is None else {"score": score}),
        **({"duration": timing["total"]} if "total" in timing else {}),
        "toolErrors": row.get("toolErrors") is True,
    }


def _ranking_in(answer: object, runs: Mapping[str, Any]) -> Ranking:
    block = cast("Json", answer if isinstance(answer, dict) else {})
    entries = blocks_of(block.get("rankings"))
    scores: dict[str, float] = {}
    ranks: dict[str, int] = {}
    for entry in entries:
        run, rank, score = text_of(entry.get("run")), entry.get("rank"), entry.get("score")
        if run in runs and isinstance(rank, int) and isinstance(score, int | float):
            scores[run], ranks[run] = score, rank
    if ranks.keys() != runs.keys() or len(entries) != len(runs):
        raise UnusableAnswerError(
            "invalid",
            'Invalid ranking: it must be `{"rankings": [{"run", "rank", "score"}]}` with every run once',
        )
    return Ranking(scores, ranks, text_of(block.get("reasoning")))
