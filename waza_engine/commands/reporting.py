"""``waza-engine report``: the results of a run for people, for a CI system or for a pull request."""

from __future__ import annotations

import io
from pathlib import Path

from waza_engine.commands.options import ReportKind
from waza_engine.commands.records import record_of
from waza_engine.masking import masked
from waza_engine.results.json_values import Block, plain
from waza_engine.results.reading.recordings import RecordingError, read_recording
from waza_engine.results.reports.words import ending_words
from waza_engine.results.writing.store import ResultsError, encoded, write_output
from waza_engine.terminal import complain, say_document

WRITTEN, RUN_NOT_ENDED, NOT_WRITTEN = 0, 1, 2


def report_command(results: Path, output_format: ReportKind, output: Path | None) -> int:
    """Write the report of a result file, or of a suite's newest one; return the exit code.

    It goes to a file, or to standard output. The code is 1 for a run that did not come to its end.
    """
    try:
        document = read_recording(record_of(results)).document
        code = RUN_NOT_ENDED if ending_words(document) else WRITTEN
        if output is not None:
            write_output(output, report_of(document, output_format))
            return code
    except (RecordingError, ResultsError) as error:
        complain(str(error))
        return NOT_WRITTEN
    if output_format == ReportKind.TEXT:
        from waza_engine.commands.result_text import print_results

        print_results(document)
        return code
    say_document(report_of(document, output_format))
    return code


def report_of(document: Block, output_format: ReportKind) -> bytes:
    """Return the report of a result document.

    As JSON it is the document itself in today's layout.
    """
    match output_format:
        case ReportKind.JSON:
            return encoded(plain(document))
        case ReportKind.JUNIT:
            from waza_engine.results.reports.junit import junit_report

            return junit_report(document)
        case ReportKind.MARKDOWN:
            from waza_engine.results.reports.markdown import markdown_report

            return masked(markdown_report(document)).encode("utf-8", "replace")
        case ReportKind.TEXT:
            from waza_engine.commands.result_text import print_results

            told = io.StringIO()
            print_results(document, told)
            return told.getvalue().encode("utf-8", "replace")
