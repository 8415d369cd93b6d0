"""The report of a comparison as Markdown: a table for each of its parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from waza_engine.harness.views import fixed
from waza_engine.markdown import cell
from waza_engine.results.json_values import Block, Json, block_of, blocks_of, items_of, number

_Column = tuple[str, Callable[[Block], str]]
_TITLES = {"capability": "Capability", "reliability": "Reliability", "overall": "Overall"}


def comparison_in_markdown(report: Json) -> Iterator[str]:
    """Yield the lines of a report."""
    meta = report["meta"]
    is_trials = "capability" in report
    yield from ("# Comparison of runs", "", f"Generated: {meta['generatedAt']}")
    yield from (f"Runs: {', '.join(map(cell, meta['runs']))}", f"Prompts: {meta['promptCount']}")
    if is_trials:
        yield f"Trials per prompt: {meta['trialsPerPrompt']}"
    parts = _trials_parts() if is_trials else _capture_parts()
    for title, key, columns in parts:
        if key in report:
            yield from _table(title, report[key], columns)
    head_to_head = report["headToHead"]
    if not is_trials:
        yield from _pairs("Head to head", head_to_head["pairwise"])
        return
    for key, title in _TITLES.items():
        yield from _pairs(f"Head to head: {title}", head_to_head[key])


def _capture_parts() -> Sequence[tuple[str, str, Sequence[_Column]]]:
    return (
        (
            "Quality",
            "quality",
            (
                ("Average score", _score("avgScore")),
                ("95% CI", _interval("avgScore")),
                ("Pass rate", _rate("passRate")),
                ("Passed", _count("passCount")),
                ("Failed", _count("failCount")),
                ("Not graded", _count("ungradedCount")),
            ),
        ),
        ("Performance", "performance", _performance()),
        (
            "Reliability",
            "reliability",
            (
                ("Tool errors", _count("toolErrors")),
                ("Tool error rate", _rate("toolErrorRate")),
                ("Timeouts", _count("timeouts")),
                ("Completed", _rate("completionRate")),
            ),
        ),
    )


def _trials_parts() -> Sequence[tuple[str, str, Sequence[_Column]]]:
    return (
        ("Capability: pass@k", "capability", _quartiles("PassAtK")),
        ("Reliability: pass^k", "reliability", _quartiles("PassExpK")),
        (
            "Flakiness",
            "flakiness",
            (
                ("Average", _score("avgFlakiness")),
                ("Median", _score("medianFlakiness")),
                ("Flaky prompts", _count("flakyPromptCount")),
            ),
        ),
        ("Quality", "quality", _quartiles("Score")),
        ("Performance", "performance", _performance()),
    )


def _performance() -> Sequence[_Column]:
    def latency(key: str) -> Callable[[Block], str]:
        return lambda found: fixed(number(block_of(found, "latency").get(key)), 0)

    return (
        ("p50 (ms)", latency("p50")),
        ("p90 (ms)", latency("p90")),
        ("p99 (ms)", latency("p99")),
        ("Mean (ms)", latency("mean")),
        ("95% CI", _interval("latencyMean", 0)),
        ("Total (ms)", lambda found: fixed(number(found.get("totalDuration")), 0)),
    )


def _quartiles(name: str) -> Sequence[_Column]:
    return (
        ("Average", _score(f"avg{name}")),
        ("95% CI", _interval(f"avg{name}")),
        ("Median", _score(f"median{name}")),
        ("p25", _score(f"p25{name}")),
        ("p75", _score(f"p75{name}")),
    )


def _score(key: str) -> Callable[[Block], str]:
    return lambda found: fixed(number(found.get(key)), 3)


def _rate(key: str) -> Callable[[Block], str]:
    return lambda found: f"{fixed(100 * number(found.get(key)), 1)}%"


def _count(key: str) -> Callable[[Block], str]:
    return lambda found: fixed(number(found.get(key)), 0)


def _interval(key: str, digits: int = 3) -> Callable[[Block], str]:
    def shown(found: Block) -> str:
        bounds = items_of(block_of(found, "confidenceIntervals").get(key))
        return f"[{', '.join(fixed(number(bound), digits) for bound in bounds)}]" if bounds else ""

    return shown


def _table(title: str, found: Mapping[str, Block], columns: Sequence[_Column]) -> Iterator[str]:
    """Yield a table with a row for each run; a column without any value is left out."""
    rows = [[cell(label), *(shown(block) for _, shown in columns)] for label, block in found.items()]
    names = ["Run", *(name for name, _ in columns)]
    used = [at for at in range(len(names)) if any(row[at] not in ("", "0") for row in rows) or at == 0]
    yield from _lines(title, [names[at] for at in used], ([row[at] for at in used] for row in rows))


def _pairs(title: str, pairs: object) -> Iterator[str]:
    rows = (
        [
            cell(pair["runA"]),
            cell(pair["runB"]),
            *(str(pair[key]) for key in ("aWins", "bWins", "ties")),
        ]
        for pair in blocks_of(pairs)
    )
    yield from _lines(title, ["Run A", "Run B", "A ahead", "B ahead", "Ties"], rows)


def _lines(title: str, names: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield from ("", f"## {title}", "", f"| {' | '.join(names)} |", f"|{' --- |' * len(names)}")
    for row in rows:
        yield f"| {' | '.join(row)} |"
