"""On which recorded run the live verdicts of a suite are judged, as it was chosen in this session."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from waza_engine.frozen import frozen
from waza_language_server.features.runnables.live_source import RecordedBaseline
from waza_language_server.project.runnable_id import RunnableId

if TYPE_CHECKING:
    from waza_engine.results.reading.scores import RunResult, TaskResult

MAX_RECORDS = 10
"""The most result files of one suite that are graded again together, the newest first."""


@frozen()
class LiveBaseline:
    """A result file, None for the newest answers, and the trial of each task, None for all.

    ``started`` is when the run of the file began.
    """

    record: Path | None = None
    trial: int | None = None
    started: datetime | None = None

    @property
    def is_default(self) -> bool:
        """Return whether nothing was chosen: the newest trials are used."""
        return self.record is None and self.trial is None


class LiveBaselines:
    """The recorded baselines of the suites; by default the newest trials."""

    def __init__(self) -> None:
        self._chosen: dict[Path, LiveBaseline] = {}

    def of(self, suite: Path) -> LiveBaseline:
        """Return the recorded baseline of a suite."""
        return self._chosen.get(suite, LiveBaseline())

    def choose(self, suite: Path, baseline: LiveBaseline) -> None:
        """Take another recorded baseline for a suite."""
        self._chosen[suite] = baseline

    def shown(self, suite: Path, run: RunResult) -> RecordedBaseline | None:
        """Return the recorded baseline of the verdicts of a suite; None without recorded trials."""
        chosen, records = self.of(suite), records_of(run, RunnableId(suite))
        if not records:
            return None
        started = None
        if chosen.record is not None:
            records = {chosen.record: {task.id: task for task in run.tasks.values() if task.trials}}
            started = chosen.started
        elif len(records) == 1:
            (tasks,) = records.values()
            started = max(task.timestamp for task in tasks.values())
        gone = not any(record.is_file() for record in records)
        return RecordedBaseline(suite, records, started, chosen.trial, gone)


def records_of(run: RunResult, target: RunnableId) -> dict[Path, dict[str, TaskResult]]:
    """Return the files that hold the last answers of a target, with the tasks that they hold."""
    found: dict[Path, dict[str, TaskResult]] = {}
    for task in run.tasks.values():
        if target.task not in (None, task.id) or not task.trials:
            continue
        asked = task.graders.get(target.grader) if target.grader is not None else None
        origin = task.origin if asked is None else asked.origin
        if origin is not None and (origin.results in found or len(found) < MAX_RECORDS):
            found.setdefault(origin.results, {})[task.id] = task
    return found
