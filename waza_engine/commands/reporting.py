"""``waza-engine report``: the results of a run for people, for a CI system or for a pull request."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

from waza_engine.commands.options import ReportKind
from waza_engine.commands.records import record_of
from waza_engine.commands.standing import standing_of, standing_words
from waza_engine.masking import masked, masked_across
from waza_engine.results.codec.header import header_of
from waza_engine.results.codec.runs import concluded_document, run_of
from waza_engine.results.conclusion import Conclusion, RunVerdict, conclude
from waza_engine.results.json_values import Block, Json, block_of, plain
from waza_engine.results.reading.recordings import RecordingError, read_recording
from waza_engine.results.writing.store import ResultsError, encoded, write_output
from waza_engine.terminal import Notation, complain, say_document

NO_PASS, NOT_WRITTEN = 1, 2
_NOTATIONS: Mapping[ReportKind, Notation] = {
    ReportKind.JSON: "json",
    ReportKind.JUNIT: "xml",
    ReportKind.MARKDOWN: "markdown",
}
_CODES: Mapping[RunVerdict, int] = {"limited": NO_PASS, "interrupted": NO_PASS, "broken": NO_PASS}


def report_command(
    results: Path, output_format: ReportKind, output: Path | None, fail_under: float | None = None
) -> int:
    """Write the report of a result file, or of a suite's newest one; return the exit code.

    It goes to a file, or to standard output. The code is that of the run, but 1 for one that did not end: 2
    says that there is no report.
    """
    try:
        record = record_of(results, of_prompts=True)
        document = read_recording(record).document
        found = conclude(run_of(document), fail_under=fail_under)
        code = report_code(found)
        standing = standing_of(results)
        if output is not None:
            if output_format != ReportKind.JSON and output.exists() and output.samefile(record):
                raise ResultsError(
                    f"{output} holds the results themselves; name another file for the report."
                )
            write_output(output, report_of(document, output_format, fail_under, record, standing))
            return code
        if output_format == ReportKind.GITHUB:
            say_document(report_of(document, output_format, fail_under, record, standing), "commands")
            return code
    except (RecordingError, ResultsError) as error:
        complain(str(error))
        return NOT_WRITTEN
    if output_format == ReportKind.TEXT:
        from waza_engine.commands.result_text import print_results

        print_results(document, fail_under=fail_under, standing=standing)
        return code
    notation = _NOTATIONS.get(output_format, "markdown")
    say_document(report_of(document, output_format, fail_under, standing=standing), notation)
    return code


def report_code(found: Conclusion) -> int:
    """Return the exit code of a command that reports a run's conclusion without running it."""
    return _CODES.get(found.verdict, found.exit_code)


def report_of(
    document: Block,
    output_format: ReportKind,
    fail_under: float | None = None,
    record: Path | None = None,
    standing: Json | None = None,
) -> bytes:
    """Return the report of a result document; ``fail_under`` is the least score with which it passes.

    As JSON it is the document itself in the current layout, with its conclusion. ``record`` is its file,
    above which the suite is searched; ``standing`` is the suite's conclusion (``standing_of``). Raises
    ``ResultsError`` when the summary of a step cannot be written.
    """
    # Mask split secrets first: in a report their parts are no longer adjacent.
    document = masked_across(document)
    match output_format:
        case ReportKind.JSON:
            told = concluded_document(document, fail_under=fail_under)
            return encoded(plain(told if standing is None else _with_standing(told, standing)))
        case ReportKind.JUNIT:
            from waza_engine.results.reports.junit import junit_report

            return junit_report(document, fail_under=fail_under)
        case ReportKind.MARKDOWN:
            from waza_engine.results.reports.markdown import markdown_report

            told = markdown_report(document, fail_under=fail_under)
            told += "" if standing is None else f"\nNote: {standing_words(standing)}\n"
            return masked(told).encode("utf-8", "replace")
        case ReportKind.GITHUB:
            from waza_engine.commands.github_output import github_report, suite_of_record

            name = header_of(document).eval_file
            suite = None if record is None else suite_of_record(record, name)
            return github_report(document, suite, fail_under=fail_under)
        case ReportKind.TEXT:
            from waza_engine.commands.result_text import print_results

            text = io.StringIO()
            print_results(document, text, fail_under=fail_under, standing=standing)
            return text.getvalue().encode("utf-8", "replace")


def _with_standing(document: Json, standing: Json) -> Json:
    metadata = block_of(document, "metadata")
    engine = {**block_of(metadata, "engine"), "suite": standing}
    return {**document, "metadata": {**metadata, "engine": engine}}
