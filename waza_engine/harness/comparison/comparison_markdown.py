"""The report of a comparison as Markdown: a table for each of its parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from waza_engine.harness.comparison.comparison_report import Comparison
from waza_engine.harness.summary import fixed
from waza_engine.markdown import cell
from waza_engine.results.json_values import Block, Json

_PARTS = ("quality", "capability", "performance", "reliability", "flakiness")
_LEFT_OUT = {"type", "scoreDistribution", "topFlakyPrompts", "firstResponse"}
_WHOLE = ("latency", "total", "toolErrors", "timeouts")


def comparison_in_markdown(comparison: Comparison) -> Iterator[str]:
    """Yield the lines of a report; the columns are the keys of its JSON form."""
    report: Json = dict(comparison.parts())
    for _ in comparison.prompts():
        pass
    meta = report["meta"]
    yield from ("# Comparison of runs", "", f"Generated: {meta['generatedAt']}")
    yield from (f"Runs: {', '.join(map(cell, meta['runs']))}", f"Prompts: {meta['promptCount']}")
    for part in _PARTS:
        if part in report:
            found = cast("Mapping[str, Block]", report[part])
            rows = {label: dict(_cells(block)) for label, block in found.items()}
            columns = list(dict.fromkeys(name for row in rows.values() for name in row))
            lines = [[cell(label), *(row.get(name, "") for name in columns)] for label, row in rows.items()]
            yield from _table(part.capitalize(), ["Run", *columns], lines)
    for part, pairs in comparison.head_to_head().items():
        rows = [
            [cell(pair["runA"]), cell(pair["runB"]), *map(str, list(pair.values())[2:])] for pair in pairs
        ]
        yield from _table(f"Head to head: {part}", ["Run A", "Run B", "A ahead", "B ahead", "Ties"], rows)


def _cells(block: Block, prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in block.items():
        name = f"{prefix}{key}"
        if key in _LEFT_OUT:
            continue
        if key == "confidenceIntervals":
            for of, bounds in value.items():
                digits = 0 if of == "latencyMean" else 3
                yield f"{of} 95% CI", f"[{', '.join(fixed(bound, digits) for bound in bounds)}]"
        elif isinstance(value, dict):
            yield from _cells(cast("Block", value), f"{name} ")
        else:
            yield name, _shown(name, value)


def _shown(name: str, value: Any) -> str:
    if name.endswith("Rate"):
        return f"{fixed(100 * value, 1)}%"
    is_whole = name.startswith(_WHOLE) or name.endswith("Count")
    return fixed(value, 0 if is_whole else 3)


def _table(title: str, names: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield from ("", f"## {title}", "", f"| {' | '.join(names)} |", f"|{' --- |' * len(names)}")
    for row in rows:
        yield f"| {' | '.join(row)} |"
