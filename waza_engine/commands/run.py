"""``waza-engine run``: what is printed while a suite runs, and the exit code."""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import FrameType

from waza_engine.commands.report import TextReport
from waza_engine.results.documents import run_document
from waza_engine.results.store import ResultsError, encoded, write_atomically
from waza_engine.runs.cancellation import RunCancellation
from waza_engine.runs.events import RunEvent
from waza_engine.runs.run import PreparedRun, RunReport, RunRequest, prepare
from waza_engine.runs.suite import SuiteError
from waza_engine.spec.problems import SuiteFileError

PASSED, SOME_FAILED, NOT_RUN, INTERRUPTED = 0, 1, 2, 130
_EVAL_NAMES = ("eval.yaml", "eval.yml")


def run_command(request: RunRequest, output: Path | None, output_format: str, *, verbose: bool) -> int:
    """Run a suite and return the exit code. ``output_format`` is ``text``, ``json`` or ``jsonl``."""
    _tolerate_narrow_encodings()
    try:
        prepared = prepare(replace(request, path=_eval_file(request.path)))
    except (SuiteFileError, SuiteError) as error:
        sys.stderr.write(f"{error}\n")
        return NOT_RUN
    if output_format == "text":
        with TextReport(prepared, verbose=verbose) as report:
            found = _run(prepared, report.tell)
            report.summarize(found)
    else:
        listener = _print_event if output_format == "jsonl" else _print_warning
        found = _run(prepared, listener)
        if output_format == "json":
            sys.stdout.buffer.write(encoded(run_document(found.outcome)))
            sys.stdout.flush()
    return _exit_code(found, _written_copy(found, output))


def _run(prepared: PreparedRun, listener: Callable[[RunEvent], None]) -> RunReport:
    """Run in a thread of its own, so that Ctrl-C reaches us at once on every system."""
    cancellation = RunCancellation()
    reports: queue.SimpleQueue[RunReport] = queue.SimpleQueue()
    work = threading.Thread(target=lambda: reports.put(prepared.run(listener, cancellation)), daemon=True)
    signal.signal(signal.SIGTERM, _interrupt)
    work.start()
    while True:
        try:
            return reports.get(timeout=0.2)
        except queue.Empty:
            continue
        except KeyboardInterrupt:
            if cancellation.requested:
                os._exit(INTERRUPTED)
            cancellation.request()


def _interrupt(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise KeyboardInterrupt


def _written_copy(found: RunReport, output: Path | None) -> bool:
    """Write the file of ``-o``; return whether the results are kept where they were asked for."""
    if output is None:
        return found.results_file is not None
    try:
        write_atomically(output, encoded(run_document(found.outcome)))
    except ResultsError as error:
        sys.stderr.write(f"{error}\n")
        return False
    return True


def _exit_code(found: RunReport, kept: bool) -> int:
    if found.outcome.status == "canceled":
        return INTERRUPTED
    unusable = any(task.status == "error" and not task.trials for task in found.outcome.tasks)
    if found.outcome.status == "error" or unusable or not kept:
        return NOT_RUN
    return PASSED if found.outcome.status == "completed" else SOME_FAILED


def _eval_file(path: Path) -> Path:
    """Return the eval file in a directory; a path that is none stays, and loading it says what is wrong."""
    if not path.is_dir():
        return path
    found = next((path / name for name in _EVAL_NAMES if (path / name).is_file()), None)
    if found is None:
        raise SuiteError(f"{path}: there is no eval.yaml in this directory.")
    return found


def _print_event(event: RunEvent) -> None:
    sys.stdout.write(json.dumps(event.document(), ensure_ascii=False) + "\n")
    sys.stdout.flush()


def _print_warning(event: RunEvent) -> None:
    if event.kind == "output" and event.trial is None and event.message:
        sys.stderr.write(f"{event.message}\n")
    elif event.kind == "ended" and event.status == "error":
        sys.stderr.write(f"error: {event.message}\n")


def _tolerate_narrow_encodings() -> None:
    """Let a terminal that has no ✓ show a question mark instead of ending the command."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
