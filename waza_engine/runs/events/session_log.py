"""The events of a run as the lines of its session log."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path

from waza_engine.boundary import Boundary
from waza_engine.files import create_file
from waza_engine.results.record import RunHeader
from waza_engine.results.writing.store import ResultsError, clear_errors
from waza_engine.runs.events.stream import RunEvent
from waza_engine.terminal import json_text

_RESULTS = {"errored": "error"}
_ERROR = "error: "


class SessionListener:
    """Passes every event on, and writes the log.

    ``tasks`` are the names of the tasks by id, in order; ``grader_types`` are by task and grader. A log that
    cannot be written ends there; ``failure`` says why.
    """

    def __init__(
        self,
        listener: Callable[[RunEvent], None],
        log: SessionLog,
        header: RunHeader,
        *,
        eval_file: str,
        tasks: Mapping[str, str],
        grader_types: Mapping[tuple[str, str], str],
    ) -> None:
        self.failure = ""
        self._listener = listener
        self._log = log
        self._header = header
        self._eval_file = eval_file
        self._names = tasks
        self._grader_types = grader_types
        self._started = time.monotonic()
        self._tasks: dict[tuple[str, bool], float] = {}

    def handle(self, event: RunEvent) -> None:
        """Write the log's line for an event, if it has one, then pass the event on."""
        if not self.failure:
            try:
                self._write(event)
            except ResultsError as error:
                self.failure = str(error)
                with contextlib.suppress(ResultsError):
                    self._log.close()
        self._listener(event)

    def _write(self, event: RunEvent) -> None:
        name = self._names.get(event.task or "", event.task)
        match event.kind:
            case "run_started":
                header = self._header
                data = {"spec_path": self._eval_file, "model": header.model, "engine": header.executor}
                self._log.write("session_start", {**data, "task_count": len(self._names)})
            case "started" if event.task is not None:
                self._start(event, name)
            case "graded":
                self._add(
                    "grader_result",
                    event,
                    task_name=name,
                    trial=event.trial,
                    grader_name=event.grader,
                    grader_type=self._grader_types.get((event.task or "", event.grader or ""), "expected"),
                    passed=event.passed,
                    score=event.score,
                    feedback=event.message,
                )
            case "passed" | "failed" | "errored" | "skipped" | "pending":
                self._end(event, name)
            case "output" if event.message and event.message.startswith(_ERROR):
                self._add("error", event, task_name=name, message=event.message.removeprefix(_ERROR))
            case "ended":
                self._finish(event)
            case _:
                pass

    def _start(self, event: RunEvent, name: str | None) -> None:
        key = (event.task or "", bool(event.baseline))
        if key not in self._tasks:
            self._tasks[key] = time.monotonic()
            number = 1 + list(self._names).index(key[0]) if key[0] in self._names else None
            self._add("task_start", event, task_name=name, task_num=number, total_tasks=len(self._names))

    def _end(self, event: RunEvent, name: str | None) -> None:
        if event.kind == "errored" and event.message:
            self._add("error", event, task_name=name, trial=event.trial, message=event.message)
        if event.trial is not None:
            return
        status = _RESULTS.get(event.kind, event.kind)
        started = self._tasks.get((event.task or "", bool(event.baseline)))
        took = None if started is None else _milliseconds_since(started)
        self._add("task_complete", event, task_name=name, status=status, score=event.score, duration_ms=took)

    def _finish(self, event: RunEvent) -> None:
        if event.message:
            self._add("error", event, message=event.message)
        counts: Mapping[str, int] = (event.conclusion or {}).get("tasks", {})
        self._add(
            "session_complete",
            event,
            passed=counts.get("passed", 0),
            failed=counts.get("failed", 0),
            errors=counts.get("errored", 0),
            skipped=sum(counts.get(key, 0) for key in ("skipped", "lost", "not_run")),
            status=event.status,
            results_file=event.results_file,
            duration_ms=_milliseconds_since(self._started),
        )
        self._log.close()

    def _add(self, kind: str, event: RunEvent, **data: object) -> None:
        self._log.write(kind, {**data, "baseline": event.baseline})


def _milliseconds_since(start: float) -> int:
    return round((time.monotonic() - start) * 1000)


class SessionLog:
    """Opens the file with its first line, flushes every line, and replaces no other log.

    Every method that writes raises ``ResultsError``.
    """

    def __init__(self, directory: Path, started: datetime, *, within: Boundary | None = None) -> None:
        self._directory = directory
        self._within = within
        self._stem = f"{started.astimezone(UTC):%Y%m%dT%H%M%SZ}-session"
        self._file: FileIO | None = None

    def write(self, kind: str, data: dict[str, object]) -> None:
        """Add a line; None values in the data are left out."""
        line = {
            "timestamp": datetime.now(UTC).isoformat(),
            "type": kind,
            "data": {key: value for key, value in data.items() if value is not None},
        }
        with clear_errors(self._directory):
            if self._file is None:
                self._file = self._opened()
            self._file.write(f"{json_text(line)}\n".encode("utf-8", "replace"))

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            with clear_errors(self._directory):
                self._file.close()
            self._file = None

    def _opened(self) -> FileIO:
        number = 1
        while True:
            name = f"{self._stem}.jsonl" if number == 1 else f"{self._stem}-{number}.jsonl"
            try:
                return create_file(self._directory / name, within=self._within)
            except FileExistsError:
                number += 1
