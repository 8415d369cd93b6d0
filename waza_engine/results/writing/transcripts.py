"""One transcript file per task: the output of ``--transcript-dir``.

The layout is upstream's.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from waza_engine.masking import masked
from waza_engine.results.codec.summary_blocks import task_document
from waza_engine.results.json_values import Json
from waza_engine.results.record import TaskOutcome
from waza_engine.results.writing.store import Attachments, encoded, write_new

_NAMELESS = "unnamed"
_LONGEST_STEM_CHARACTERS = 120


def write_transcript(directory: Path, task: TaskOutcome, prompt: str, started: datetime) -> Path:
    """Write the transcript of a finished task and return its path; existing files are not replaced.

    ``prompt`` is the first one of the task, ``started`` the moment of its first trial, with a time zone. Two
    tasks of one name that start within a second get files of their own. Long strings are stored next to a
    file, as those of result files are. Raises ``ResultsError``.
    """
    document = transcript_document(task, prompt, started)
    return next(
        path
        for path in _names(directory, task.name or task.id, started)
        if write_new(path, encoded(Attachments(path).of(document)))
    )


def transcript_document(task: TaskOutcome, prompt: str, started: datetime) -> Json:
    """Return the transcript of a task: the events of all trials, the verdicts and session of the last one.

    A verdict that only an earlier trial has is kept. Times are milliseconds and ISO 8601.
    """
    written = task_document(task)
    runs: list[Json] = written["runs"]
    last: Json = runs[-1] if runs else {}
    validations: Json = {}
    for run in runs:
        validations |= run["validations"] or {}
    duration_ms = sum(int(run["duration_ms"]) for run in runs)
    complaint = task.error or next((str(run["error_msg"]) for run in runs if run.get("error_msg")), "")
    return {
        "task_id": task.id,
        "task_name": task.name,
        "status": task.status,
        "started_at": started.isoformat(),
        "completed_at": (started + timedelta(milliseconds=duration_ms)).isoformat(),
        "duration_ms": duration_ms,
        "prompt": prompt,
        "final_output": last.get("final_output", ""),
        "transcript": [event for run in runs for event in run.get("transcript", [])],
        "validations": validations,
        "session": last.get("session_digest", {}),
        **({"error_msg": complaint} if complaint else {}),
    }


def file_stem(name: str) -> str:
    """Return a task's name as upstream writes it into a file name: ``Say hello!`` becomes ``say-hello``."""
    lowered = masked(name).lower().replace(" ", "-")
    kept = "".join(c for c in lowered if (c.isascii() and c.isalnum()) or c in "-_")
    return kept[:_LONGEST_STEM_CHARACTERS] or _NAMELESS


def _names(directory: Path, name: str, started: datetime) -> Iterator[Path]:
    stem = f"{file_stem(name)}-{started:%Y%m%d-%H%M%S}"
    yield directory / f"{stem}.json"
    number = 1
    while True:
        number += 1
        yield directory / f"{stem}-{number}.json"
