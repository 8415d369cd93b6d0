"""The page of a recorded run that an editor asks for: its record, and the prompts of its suite."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from waza_engine.commands.result_arguments import RUN_FIRST, record_of
from waza_engine.masking import masked
from waza_engine.results.attachments import with_attachments
from waza_engine.results.codec.run_documents import run_of
from waza_engine.results.conclusion import conclude, part_of
from waza_engine.results.reading.missing_results import describe_missing_results
from waza_engine.results.reading.newest_scores import result_files
from waza_engine.results.reading.owners import Owner
from waza_engine.results.reading.recordings import Recording, RecordingError, read_recording
from waza_engine.results.record import RunOutcome
from waza_engine.results.reports.result_page import change_page, in_page_order, result_page
from waza_engine.runs.loading.discovery import runs_as_suite
from waza_engine.runs.loading.suite_on_disk import SuiteError, load_suite
from waza_engine.spec.problems import SuiteFileError
from waza_engine.user_state import known_workspace

_MOST_LISTED = 20
_MOST_RECORDS = 50
"""The most older records that are searched for a task."""


def recorded_page(path: Path, task: str | None, suite: Path | None = None) -> dict[str, Any]:
    """Return the page of a result file, or of the newest run of a suite, as ``markdown``.

    ``goes_on`` says that the run has not ended. ``workspaces`` are those that it has kept and that still
    exist, ``{task, trial, path}`` each; ``answered`` are its tasks with an answer, ``{id, name}`` each, and
    ``tasks`` all of them in the order of the page.

    With a task, it is the newest run that had it. ``suite`` has the prompts of a result file that has none.
    Raises ``RecordingError`` when there is none.
    """
    recording = read_recording(record_of(path, advice=RUN_FIRST))
    if task is not None and all(found.id != task for found in recording.tasks):
        recording = _older(path, recording.eval_file, task)
    record = recording.path
    run = run_of(with_attachments(recording.document, record))
    found = conclude(run)
    page = result_page(run.header, found, prompts_of(suite or path), task, goes_on=recording.goes_on)
    kept = [place for place in _workspaces(run) if task in (None, place["task"])]
    with_answer = {each.id for each in run.tasks if any(trial.output for trial in each.trials)}
    tasks = [
        {"id": each.id, "name": each.name or each.id}
        for each in in_page_order(found.tasks)
        if task in (None, each.id)
    ]
    return {
        "record": str(record),
        "markdown": masked(page),
        "goes_on": recording.goes_on,
        "workspaces": kept,
        "answered": [each for each in tasks if each["id"] in with_answer],
        "tasks": tasks,
    }


def changed_page(now: Path, then: Path, task: str | None) -> dict[str, Any]:
    """Return the changes from one recorded run to another as ``markdown``. Raises ``RecordingError``."""
    before, after = (run_of(read_recording(path).document) for path in (then, now))
    return {"record": str(now), "markdown": masked(change_page(before, after, task))}


def _workspaces(run: RunOutcome) -> Iterator[dict[str, Any]]:
    """Yield the folders that a run has kept: a record may name any folder, and only ours are opened."""
    for task in run.tasks:
        for trial in task.trials:
            place = known_workspace(trial.workspace)
            if place is not None:
                yield {"task": task.id, "trial": trial.number, "path": str(place)}


def recorded_runs(path: Path, task: str | None) -> list[dict[str, str]]:
    """Return the runs of a suite, those that had the task, newest first: file, start, verdict and part."""
    found: list[dict[str, str]] = []
    owner = Owner(path.parent, path.name)
    for file in result_files(path.parent)[:_MOST_LISTED]:
        try:
            recording = read_recording(file)
        except RecordingError:
            continue
        if not owner.has(recording.eval_file, recording.header.eval_name):
            continue
        run = conclude(run_of(recording.document))
        verdicts = [one.verdict for one in run.tasks if one.id == task]
        if task is None or verdicts:
            verdict = verdicts[0] if verdicts else run.verdict
            started = recording.header.started.isoformat()
            part = part_of(recording.header)
            found.append({"record": str(file), "timestamp": started, "verdict": verdict, "part": part})
    return sorted(found, key=lambda run: run["timestamp"], reverse=True)


def _older(path: Path, eval_file: str, task: str) -> Recording:
    if path.suffix == ".json" and not runs_as_suite(path):
        raise RecordingError(f"{path} holds no task `{task}`.")
    for file in result_files(path.parent)[:_MOST_RECORDS]:
        try:
            recording = read_recording(file)
        except RecordingError:
            continue
        if recording.eval_file == eval_file and any(found.id == task for found in recording.tasks):
            return recording
    raise RecordingError(describe_missing_results(f"The task `{task}` of {path}", path.parent, RUN_FIRST))


def prompts_of(path: Path) -> dict[str, str]:
    """Return the prompts of a suite as they are now; none of a suite that cannot be read."""
    if path.suffix == ".json" and not runs_as_suite(path):
        return {}
    try:
        suite = load_suite(path)
    except (SuiteFileError, SuiteError):
        return {}
    return {task.id: task.task.inputs.prompt or "" for task in suite.tasks if task.task is not None}
