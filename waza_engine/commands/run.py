"""``waza-engine run``: what is printed while a suite runs, and the exit code."""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import FrameType

from waza_engine.commands.output import StandardOutput, tolerate_narrow_encodings
from waza_engine.commands.report import TextReport
from waza_engine.commands.reporting import report_of
from waza_engine.results.documents import run_document
from waza_engine.results.store import ResultsError, check_writable, encoded, write_atomically
from waza_engine.runs.cancellation import RunCancellation
from waza_engine.runs.discovery import eval_file_of
from waza_engine.runs.events import RunEvent
from waza_engine.runs.run import PreparedRun, RunReport, RunRequest, prepare
from waza_engine.runs.suite import SuiteError
from waza_engine.spec.problems import SuiteFileError

PASSED, SOME_FAILED, NOT_RUN, INTERRUPTED = 0, 1, 2, 130


def run_command(
    request: RunRequest,
    output: Path | None,
    output_format: str,
    *,
    verbose: bool,
    reporters: Sequence[str] = (),
) -> int:
    """Run a suite and return the exit code. ``output_format`` is ``text``, ``json`` or ``jsonl``.

    ``reporters`` are ``junit:FILE`` each; their files are written however the run ends.
    """
    tolerate_narrow_encodings(json_wanted=output_format != "text")
    try:
        reports = [_report_file(reporter) for reporter in reporters]
        prepared = prepare(replace(request, path=eval_file_of(request.path)))
        for file in (*reports, *(() if output is None else (output,))):
            check_writable(file)
    except (SuiteFileError, SuiteError, ResultsError) as error:
        sys.stderr.write(f"{error}\n")
        return NOT_RUN
    cancellation = RunCancellation()
    printed = StandardOutput(cancellation.request)
    if output_format == "text":
        with TextReport(prepared, printed.stream, verbose=verbose) as report:
            found = _run(prepared, report.tell, cancellation)
            report.summarize(found)
    elif output_format == "jsonl":
        found = _run(prepared, lambda event: _print_event(event, printed), cancellation)
    else:
        found = _run(prepared, _print_warning, cancellation)
        printed.write(encoded(run_document(found.outcome)).decode())
    printed.flush()
    printed.complain()
    kept = all([_written_copy(found, output), *(_reported(found, file) for file in reports)])
    return NOT_RUN if printed.failure is not None else _exit_code(found, kept)


def _run(
    prepared: PreparedRun, listener: Callable[[RunEvent], None], cancellation: RunCancellation
) -> RunReport:
    """Run in a thread of its own, so that Ctrl-C reaches us at once on every system."""
    reports: queue.SimpleQueue[RunReport | Exception] = queue.SimpleQueue()

    def work() -> None:
        try:
            reports.put(prepared.run(listener, cancellation))
        except Exception as error:  # noqa: BLE001 - raised by the thread that waits
            reports.put(error)

    signal.signal(signal.SIGTERM, _interrupt)
    threading.Thread(target=work, daemon=True).start()
    while True:
        try:
            found = reports.get(timeout=0.2)
        except queue.Empty:
            continue
        except KeyboardInterrupt:
            if cancellation.requested:
                os._exit(INTERRUPTED)
            cancellation.request()
            continue
        if isinstance(found, Exception):
            raise found
        return found


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


def _report_file(reporter: str) -> Path:
    kind, colon, file = reporter.partition(":")
    if kind != "junit" or not colon or not file:
        raise SuiteError(f"`--reporter {reporter}` is not a reporter; write `--reporter junit:FILE`.")
    return Path(file)


def _reported(found: RunReport, file: Path) -> bool:
    try:
        write_atomically(file, report_of(run_document(found.outcome), "junit"))
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


def _print_event(event: RunEvent, printed: StandardOutput) -> None:
    printed.write(json.dumps(event.document(), ensure_ascii=False) + "\n")
    printed.flush()


def _print_warning(event: RunEvent) -> None:
    if event.kind == "output" and event.trial is None and event.message:
        sys.stderr.write(f"{event.message}\n")
    elif event.kind == "ended" and event.status == "error":
        sys.stderr.write(f"error: {event.message}\n")
