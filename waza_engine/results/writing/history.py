"""The history of a suite's runs: one line a run, so that a trend needs no big files. Light, no models."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from waza_engine.files import opened_to_append, read_bytes
from waza_engine.results.places import HISTORY_NAME, results_directory
from waza_engine.results.record import RunOutcome
from waza_engine.terminal import json_text

LONGEST_BYTES = 64 * 1024 * 1024


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


def append(directory: Path, file: str, run: RunOutcome) -> None:
    """Add a run's line. Runs that end at the same time do not mix: a line is one write.

    Raises ``OSError``.
    """
    line = json_text(asdict(entry_of(file, run)))
    with opened_to_append(directory / HISTORY_NAME) as index:
        index.write(line.encode() + b"\n")


def read_history(suite_directory: Path) -> list[HistoryEntry]:
    """Return the runs whose result files still exist, oldest first; unreadable lines are skipped.

    Two runs that start at the same time may both enter a third that was killed; it is one entry all the same.
    """
    directory = results_directory(suite_directory)
    try:
        lines = read_bytes(directory / HISTORY_NAME, LONGEST_BYTES).splitlines()
    except OSError:
        return []
    entries: dict[str, HistoryEntry] = {}
    for line in lines:
        try:
            entry = HistoryEntry(**json.loads(line))
        except (ValueError, TypeError):
            continue
        if (directory / entry.file).is_file():
            entries[entry.file] = entry
    return sorted(entries.values(), key=lambda entry: entry.timestamp)


def entry_of(file: str, run: RunOutcome) -> HistoryEntry:
    """Return the line of a run."""
    header, summary = run.header, run.summary
    return HistoryEntry(
        file=file,
        timestamp=header.started.isoformat(),
        eval_file=header.eval_file,
        eval_name=header.eval_name,
        skill=header.skill,
        executor=header.executor,
        model=header.model,
        status=run.status,
        total=summary.total_tests,
        succeeded=summary.succeeded,
        aggregate_score=summary.aggregate_score,
        duration_ms=summary.duration_ms,
        tasks={task.id: task.statistics.avg_score if task.statistics else 0.0 for task in run.tasks},
    )
