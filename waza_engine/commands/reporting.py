"""``waza-engine report``: the results of a run for people, for a CI system or for a pull request."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from waza_engine.commands.conclusion_text import (
    MARKS,
    describe_feedback,
    describe_verdict,
    mark_of,
    print_conclusion,
    shortened,
)
from waza_engine.commands.each_suite import UNUSABLE, Ended, for_each_suite
from waza_engine.commands.github_output import SuiteLocations, suite_of_record
from waza_engine.commands.printer import Part, Printer
from waza_engine.commands.result_arguments import record_of
from waza_engine.commands.shared_options import ReportKind
from waza_engine.counting import counted
from waza_engine.masking import masked, masked_across
from waza_engine.moments import is_known
from waza_engine.number_formats import format_score, format_scores
from waza_engine.results.codec.run_documents import concluded_document, header_of, run_of
from waza_engine.results.conclusion import Conclusion, RunVerdict, conclude
from waza_engine.results.json_values import Block, Json, block_of, plain
from waza_engine.results.reading.newest_scores import latest_results
from waza_engine.results.reading.owners import name_now
from waza_engine.results.reading.recordings import read_recording
from waza_engine.results.reading.scores import RunOrigin, TaskResult
from waza_engine.results.reading.suite_conclusion import SuiteConclusion, conclude_suite
from waza_engine.results.record import RunHeader
from waza_engine.results.reports.descriptions import describe_spending
from waza_engine.results.task_conclusion import GraderConclusion, TaskConclusion
from waza_engine.results.writing.store import ResultsError, encoded, write_output
from waza_engine.terminal import Notation, complain, say_document, visible
from waza_engine.vocabulary import grader_label

NO_PASS, NOT_WRITTEN = 1, 2
_NOTATIONS: Mapping[ReportKind, Notation] = {
    ReportKind.JSON: "json",
    ReportKind.JUNIT: "xml",
    ReportKind.GITHUB: "commands",
    ReportKind.HTML: "xml",
}
_CODES: Mapping[RunVerdict, int] = {"limited": NO_PASS, "interrupted": NO_PASS, "broken": NO_PASS}


@dataclass(frozen=True, slots=True)
class ReportedRun:
    """A run to report: its document in the current layout, and its file, above which the suite is searched.

    A suite's document has the suite's conclusion, if parts of it were run since its last whole run.
    """

    document: Block
    record: Path | None = None

    @property
    def suite(self) -> Path | None:
        """The eval file, None when it is not known."""
        name = header_of(self.document).eval_file
        return None if self.record is None else suite_of_record(self.record, name)

    @property
    def places(self) -> SuiteLocations:
        """The source locations of tasks and trigger prompts."""
        return SuiteLocations(self.suite, header_of(self.document).eval_file)


def report_command(
    paths: Sequence[Path], output_format: ReportKind, output: Path | None, fail_under: float | None = None
) -> int:
    """Write the report of each result file, or of each suite's newest one; return the exit code.

    It goes to one file, or to standard output. The code is that of the run, or of a suite that did not pass,
    but 1 for a run that did not end: 2 says that there is no report.
    """
    runs: list[ReportedRun] = []
    refused: dict[str, str] = {}

    def read(path: Path) -> Ended:
        try:
            return add(path)
        except UNUSABLE as error:
            refused[str(path)] = str(error)
            raise

    def add(path: Path) -> Ended:
        record = record_of(path, of_prompts=True)
        replaces = output is not None and output.exists() and output.samefile(record)
        if replaces and output_format != ReportKind.JSON:
            raise ResultsError(f"{output} holds the results themselves; name another file for the report.")
        run = ReportedRun(_with_standing(read_recording(record).document, standing_of(path)), record)
        runs.append(run)
        found = conclude(run_of(run.document), fail_under=fail_under)
        if prints:
            print_results(run.document, fail_under=fail_under)
        counts = f"{found.counts.passed} of {counted(found.counts.total, 'task')}"
        score = format_score(found.score) if found.scored else ""
        return Ended(report_code(found), (describe_verdict(found), counts, score))

    prints = output_format == ReportKind.TEXT and output is None
    columns = ("verdict", "passed", "score") if prints else ()
    code = for_each_suite(paths, read, columns, as_json=False, heading=None if prints else lambda _: None)
    if prints or not runs:
        return code
    try:
        report = report_of(runs, output_format, fail_under, refused)
        if output is not None:
            write_output(output, report)
        else:
            say_document(report, _NOTATIONS.get(output_format, "markdown"))
    except ResultsError as error:
        complain(str(error))
        return NOT_WRITTEN
    return code


def report_code(found: Conclusion) -> int:
    """Return the exit code of a command that reports a run's conclusion without running it."""
    return _CODES.get(found.verdict, found.exit_code)


def report_of(
    runs: Sequence[ReportedRun],
    output_format: ReportKind,
    fail_under: float | None = None,
    refused: Mapping[str, str] | None = None,
) -> bytes:
    """Return the report of runs; ``fail_under`` is the least score with which one passes.

    As JSON it is the document itself in the current layout, with its conclusion; of several runs
    ``{"suites": [...]}``. ``refused`` are the suites without usable results, by name, with the reason. Raises
    ``ResultsError`` when the summary of a step cannot be written.
    """
    # Mask split secrets first: in a report their parts are no longer adjacent.
    runs = [replace(run, document=masked_across(run.document)) for run in runs]
    match output_format:
        case ReportKind.JSON:
            documents = [concluded_document(run.document, fail_under=fail_under) for run in runs]
            errors = [{"path": name, "error": reason} for name, reason in (refused or {}).items()]
            several = len(documents) + len(errors) > 1
            return encoded(plain({"suites": [*documents, *errors]} if several else documents[0]))
        case ReportKind.JUNIT:
            from waza_engine.results.reports.junit import junit_report

            documents = [run.document for run in runs]
            places = [run.places for run in runs]
            return junit_report(*documents, fail_under=fail_under, refused=refused, places=places)
        case ReportKind.MARKDOWN:
            from waza_engine.results.reports.markdown_report import markdown_report

            texts = (markdown_report(run.document, fail_under=fail_under) for run in runs)
            return masked("\n".join(texts)).encode("utf-8", "replace")
        case ReportKind.HTML:
            from waza_engine.results.reports.html_page import html_page

            return masked(html_page(masked(_page(run, fail_under)) for run in runs)).encode(
                "utf-8", "replace"
            )
        case ReportKind.CSV:
            from waza_engine.results.reports.csv_rows import csv_report

            return masked(csv_report([run.document for run in runs], fail_under)).encode("utf-8", "replace")
        case ReportKind.GITHUB:
            from waza_engine.commands.github_output import github_report

            reports = (github_report(run.document, run.suite, fail_under=fail_under) for run in runs)
            return b"".join(reports)
        case ReportKind.TEXT:
            text = io.StringIO()
            for run in runs:
                if len(runs) > 1:
                    text.write(f"{visible(str(run.record))}\n")
                print_results(run.document, text, fail_under=fail_under)
            return text.getvalue().encode("utf-8", "replace")


def _page(run: ReportedRun, fail_under: float | None) -> str:
    """Return the page that editors show."""
    from waza_engine.commands.result_page import prompts_of
    from waza_engine.results.attachments import with_attachments
    from waza_engine.results.reports.result_page import result_page

    document = (
        run.document if run.record is None else masked_across(with_attachments(run.document, run.record))
    )
    outcome = run_of(document)
    prompts = {} if run.suite is None else prompts_of(run.suite)
    return result_page(outcome.header, conclude(outcome, fail_under=fail_under), prompts)


def _with_standing(document: Block, standing: Json | None) -> Block:
    if standing is None:
        return document
    metadata = block_of(document, "metadata")
    engine = {**block_of(metadata, "engine"), "suite": standing}
    return {**document, "metadata": {**metadata, "engine": engine}}


def print_results(
    document: Block, output: IO[str] | None = None, *, fail_under: float | None = None
) -> Conclusion:
    """Print a result document in the current layout, to standard output unless another stream is given.

    It has colours on a terminal and is plain elsewhere. Return the conclusion of the run.
    """
    printer = Printer(output)
    run = run_of(document)
    found = conclude(run, fail_under=fail_under)
    printer.line(*_headline(run.header, found))
    for task in found.tasks:
        score = f"  {format_scores(task.score, task.plain_score)}" if task.scored else ""
        trials = f"  {task.share} trials" if task.share and task.ended_trials > 1 else ""
        trials += f"  ·  {task.estimates.words}" if task.estimates is not None else ""
        flaky = "  flaky" if task.flaky else ""
        reason = task.reason if task.passes_part else task.hidden_reason
        why = f"  {shortened(reason)}" if reason else ""
        printer.line(mark_of(task), f" {task.id or task.name}{score}", (f"{trials}{flaky}{why}", "dim"))
    for task in found.tasks:
        if task.error or task.verdict in ("failed", "errored") or task.waits or task.has_advice:
            _explain(printer, task)
    print_conclusion(printer, found, run.summary.duration_ms)
    if spent := describe_spending(document):
        printer.line(spent)
    return found


def _headline(header: RunHeader, found: Conclusion) -> tuple[Part, ...]:
    facts = [
        "trigger prompts" if header.settings.get("prompts") else counted(len(found.tasks), "task"),
        *(name for name in (header.executor, header.asked_model) if name),
        *([f"{header.started:%Y-%m-%d %H:%M:%S}"] if is_known(header.started) else []),
    ]
    name = header.eval_name or header.skill or "run"
    return (name, "bold"), f": {', '.join(facts)}"


def _explain(printer: Printer, task: TaskConclusion) -> None:
    complaints = [grader for grader in task.graders if grader.verdict != "passed"]
    if not task.error and not complaints and task.cause is None:
        return
    printer.line()
    printer.line(mark_of(task), " ", (task.id or task.name, "bold"))
    if task.error:
        printer.line(f"    {shortened(task.error)}")
    if task.cause is not None:
        printer.line("    ", (f"{task.cause.kind}: {task.cause.evidence}", "dim"))
    for grader in complaints:
        printer.line(
            "    ",
            MARKS[grader.verdict],
            f" {grader_label(grader.name)}{_score(grader)}",
            describe_feedback(grader.feedback),
        )


def _score(grader: GraderConclusion) -> str:
    return "" if grader.verdict == "pending" else f"  {format_score(grader.score)}"


_EVAL_SUFFIXES = (".yaml", ".yml")
_WORDS = {"errored": "in error", "unjudged": "not judged"}


def standing_of(suite: Path) -> Json | None:
    """Return the verdict of a suite and of its tasks when parts of it were run since its last whole run.

    Also since a whole run that did not come to its end. None for a result file, a suite whose newest run is
    of all of it, and one of which only parts were run.
    """
    is_file = suite.suffix in _EVAL_SUFFIXES
    if not is_file and not suite.is_dir():
        return None
    directory, eval_file = (suite.parent, suite.name) if is_file else (suite, None)
    newest = latest_results(directory, eval_file=eval_file)
    if newest is not None and newest.eval_file and eval_file is None:
        # Other suites of the directory, and tasks that the last whole run no longer had, do not count.
        name = name_now(directory, newest.eval_file, newest.eval_name) or Path(newest.eval_file).name
        newest = latest_results(directory, eval_file=name)
    whole = None if newest is None else newest.whole or newest.cut
    if newest is None or whole is None or whole.timestamp >= newest.timestamp:
        return None
    found = conclude_suite(newest)
    return {
        "verdict": found.verdict,
        "words": _describe_suite(found, was_whole=newest.whole is not None),
        "reasons": list(found.reasons),
        "whole_run": whole.path.name,
        "tasks": {task.id: _task(task) for task in newest.tasks.values()},
    }


def _describe_suite(found: SuiteConclusion, *, was_whole: bool) -> str:
    """Return the verdict of a suite in one line: ``the suite failed: 1 of 2 tasks failed``."""
    reasons = "; ".join(found.reasons)
    result = f"is {_WORDS[found.verdict]}" if found.verdict in _WORDS else found.verdict
    sources = " (its last whole run and the parts run since)" if was_whole else ""
    return f"the suite {result}{f': {reasons}' if reasons else ''}{sources}"


def _task(task: TaskResult) -> Json:
    """Return a verdict and those of its graders, each with the record of the run that gave it."""
    verdicts = {**task.graders, **task.checkpoints}
    return {
        "status": task.status,
        "run": _record(task.origin),
        "graders": {
            name: {"status": one.status, "passed": one.passed, "run": _record(one.origin)}
            for name, one in verdicts.items()
        },
    }


def _record(origin: RunOrigin | None) -> str:
    return "" if origin is None else origin.results.name
