"""``waza-engine merge``: join the results of shards, and report and conclude them as one run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from waza_engine.commands.options import ReportKind
from waza_engine.commands.reporting import NOT_WRITTEN, report_command
from waza_engine.commands.run import report_file
from waza_engine.results.codec.runs import run_of
from waza_engine.results.conclusion import conclude
from waza_engine.results.merging import MergeError, merged_document
from waza_engine.results.reading.recordings import RecordingError, read_recording
from waza_engine.results.writing.store import Attachments, ResultsError, encoded_run, is_kept, write_output
from waza_engine.runs.loading.suite import SuiteError
from waza_engine.terminal import complain


def merge_command(
    shards: Sequence[Path],
    output: Path,
    output_format: ReportKind,
    reporters: Sequence[str],
    fail_under: float | None,
) -> int:
    """Write the result document of the whole run, print its report, and return the exit code of the run."""
    try:
        junit_files = [report_file(reporter) for reporter in reporters]
        outcome = run_of(merged_document([read_recording(path) for path in shards]))
        write_output(output, encoded_run(Attachments(output).of_run(outcome) if is_kept(output) else outcome))
    except (MergeError, RecordingError, ResultsError, SuiteError) as error:
        complain(str(error))
        return NOT_WRITTEN
    codes = [report_command([output], ReportKind.JUNIT, file, fail_under) for file in junit_files]
    codes.append(report_command([output], output_format, None, fail_under))
    return NOT_WRITTEN if NOT_WRITTEN in codes else conclude(outcome, fail_under=fail_under).exit_code
