"""The page of a recorded run that an editor asks for: its record, and the prompts of its suite."""

from __future__ import annotations

from pathlib import Path

from waza_engine.commands.records import record_of
from waza_engine.masking import masked
from waza_engine.results.attachments import with_attachments
from waza_engine.results.codec.runs import run_of
from waza_engine.results.conclusion import conclude
from waza_engine.results.reading.recordings import read_recording
from waza_engine.results.reports.result_page import result_page
from waza_engine.runs.loading.suite import SuiteError, load_suite
from waza_engine.spec.problems import SuiteFileError


def recorded_page(path: Path, task: str | None) -> dict[str, str]:
    """Return the page of a result file, or of the newest run of a suite, as ``markdown``.

    Raises ``RecordingError`` when there is none.
    """
    record = record_of(path)
    recording = read_recording(record)
    run = run_of(with_attachments(recording.document, record))
    page = result_page(run.header, conclude(run), _prompts(path), task)
    return {"record": str(record), "markdown": masked(page)}


def _prompts(path: Path) -> dict[str, str]:
    """Return the prompts of a suite as they are now; none of a suite that cannot be read."""
    if path.suffix == ".json":
        return {}
    try:
        suite = load_suite(path)
    except (SuiteFileError, SuiteError):
        return {}
    return {task.id: task.task.inputs.prompt or "" for task in suite.tasks if task.task is not None}
