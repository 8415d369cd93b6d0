"""The history of a suite's runs: one line a run, so that a trend needs no big files. Light, no models."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from waza_engine.results.places import HISTORY_NAME, results_directory


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One run. ``tasks`` maps task ids to their mean score; ``duration_ms`` is in milliseconds."""

    file: str
    timestamp: str
    eval_file: str
    eval_name: str
    skill: str
    executor: str
    model: str
    status: str
    total: int
    succeeded: int
    aggregate_score: float
    duration_ms: int
    tasks: Mapping[str, float]


def append(directory: Path, file: str, document: Mapping[str, Any]) -> None:
    """Add a run's line. Runs that end at the same time do not mix: a line is one write.

    Raises ``OSError``.
    """
    line = json.dumps(asdict(entry_of(file, document)), ensure_ascii=False)
    with (directory / HISTORY_NAME).open("ab", buffering=0) as index:
        index.write(line.encode("utf-8", "replace") + b"\n")


def read_history(suite_directory: Path) -> list[HistoryEntry]:
    """Return the runs whose result files still exist, oldest first; unreadable lines are skipped."""
    directory = results_directory(suite_directory)
    try:
        lines = (directory / HISTORY_NAME).read_bytes().splitlines()
    except OSError:
        return []
    entries: list[HistoryEntry] = []
    for line in lines:
        try:
            entry = HistoryEntry(**json.loads(line))
        except (ValueError, TypeError):
            continue
        if (directory / entry.file).is_file():
            entries.append(entry)
    return sorted(entries, key=lambda entry: entry.timestamp)


def entry_of(file: str, document: Mapping[str, Any]) -> HistoryEntry:
    """Return the line of a result document."""
    config, summary = _block(document, "config"), _block(document, "summary")
    engine = _block(_block(document, "metadata"), "engine")
    tasks = cast("list[Mapping[str, Any]]", document.get("tasks") or [])
    return HistoryEntry(
        file=file,
        timestamp=str(document.get("timestamp", "")),
        eval_file=str(engine.get("eval_file", "")),
        eval_name=str(document.get("eval_name", "")),
        skill=str(document.get("skill", "")),
        executor=str(config.get("engine_type", "")),
        model=str(config.get("model_id", "")),
        status=str(engine.get("status", "")),
        total=int(summary.get("total_tests", 0)),
        succeeded=int(summary.get("succeeded", 0)),
        aggregate_score=float(summary.get("aggregate_score", 0.0)),
        duration_ms=int(summary.get("duration_ms", 0)),
        tasks={
            str(task.get("test_id", "")): float(_block(task, "stats").get("avg_score", 0.0)) for task in tasks
        },
    )


def _block(document: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = document.get(key)
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
