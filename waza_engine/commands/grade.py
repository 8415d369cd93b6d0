"""``waza-engine grade``: grade a recorded run again, print it for people or programs, set the exit code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from waza_engine.commands.conclusion_text import (
    MARKS,
    describe_feedback,
    describe_score,
    describe_verdict,
    mark_of,
    print_reasons,
    verdict_mark,
)
from waza_engine.commands.each_suite import (
    Ended,
    are_several,
    file_for_suite,
    first_set_option,
    for_each_suite,
    try_writing,
)
from waza_engine.commands.printer import Part, Printer
from waza_engine.commands.regraded import TaskReport, answer, conclusion_of, document, graded
from waza_engine.commands.reporting import report_code
from waza_engine.commands.result_arguments import record_of
from waza_engine.counting import counted
from waza_engine.executors.executor import Cancellation
from waza_engine.number_formats import format_score
from waza_engine.results.conclusion import INTERRUPTED, NOT_RUN
from waza_engine.results.json_values import plain
from waza_engine.results.reading.scores import GraderResult
from waza_engine.results.reports.descriptions import verdict_label
from waza_engine.results.writing.store import (
    check_writable,
    copy_attachments,
    encoded,
    write_output,
)
from waza_engine.runs.grading.recorded_verdicts import is_recorded, needs_agent_files
from waza_engine.runs.limits.budget import dollars
from waza_engine.runs.limits.cancellation import CancelledRunError, RunCancellation
from waza_engine.runs.loading.discovery import eval_file_of
from waza_engine.runs.regrading.regrade import RegradeRequest, Regrading, prepare_regrading
from waza_engine.runs.regrading.resident import ResidentSuites
from waza_engine.terminal import complain, say_json
from waza_engine.vocabulary import grader_label


def grade_command(
    paths: Sequence[Path], request: RegradeRequest, output: Path | None, output_format: str
) -> int:
    """Grade each record again and return the exit code; ``request`` has the other options.

    ``output_format`` is ``text`` or ``json``. With several suites, the directory of each is added to the name
    of ``output``.
    """
    several = are_several(paths)
    if several and (given := first_set_option({"--suite": request.suite, "--workspace": request.workspace})):
        complain(f"`{given}` is about one suite; name that suite.")
        return NOT_RUN
    with ResidentSuites() as suites:

        def grade(path: Path) -> Ended:
            copy = output and file_for_suite(output, path if several else None)
            return _graded(replace(request, record=path), copy, output_format, suites)

        columns = ("verdict", "tasks", "changed")
        return for_each_suite(paths, grade, columns, as_json=output_format == "json")


def _graded(
    request: RegradeRequest, output: Path | None, output_format: str, suites: ResidentSuites
) -> Ended:
    cancellation = RunCancellation()
    regrading: Regrading | None = None
    reports: list[TaskReport] = []

    def add(report: TaskReport) -> None:
        reports.append(report)
        # Judges are paid: a killed process must not lose the verdicts of finished tasks.
        if regrading is not None and output is not None and request.judge_executor is not None:
            _written(regrading, reports, output)

    try:
        regrading = prepare_regrading(with_files(request), suites)
        for warning in regrading.warnings:
            complain(f"warning: {warning}")
        if output is not None:
            # Before judges are paid.
            check_writable(output, regrading.suite.path)
        if output_format == "text":
            _grade_and_print(regrading, cancellation, reports, add)
        else:
            graded(regrading, cancellation, add)
            say_json(plain(answer(regrading, reports)))
    except (KeyboardInterrupt, CancelledRunError):
        cancellation.request()
        # Verdicts of paid judges are stored.
        paid = bool(reports) and request.judge_executor is not None
        if paid and regrading is not None and output is not None and _written(regrading, reports, output):
            count = f"{len(reports)} of {counted(regrading.task_count, 'task')}"
            complain(f"{output} has new verdicts of {count}; all others are as recorded.")
        return Ended(INTERRUPTED, ("– interrupted",))
    found = conclusion_of(regrading, reports)
    lost = output is not None and not _written(regrading, reports, output)
    changed = _changed_count(reports)
    return Ended(
        NOT_RUN if lost or any(report.task.error for report in reports) else report_code(found),
        (describe_verdict(found), found.results, f"{changed} changed" if changed else ""),
    )


def _written(regrading: Regrading, reports: Sequence[TaskReport], output: Path) -> bool:
    def write() -> None:
        write_output(output, encoded(document(regrading, reports)))
        copy_attachments(regrading.recording.path, output)

    return try_writing(write)


def with_files(request: RegradeRequest) -> RegradeRequest:
    """Return the request with files in the place of directories: of the suite, and of the newest record."""
    suite = None if request.suite is None else eval_file_of(request.suite)
    return replace(request, record=record_of(request.record), suite=suite)


def _grade_and_print(
    regrading: Regrading,
    cancellation: Cancellation,
    reports: Sequence[TaskReport],
    add: Callable[[TaskReport], None],
) -> None:
    """Grade every task, print its report and pass it to ``add``, which adds it to ``reports``."""
    printer = Printer()
    recording = regrading.recording
    name = recording.header.eval_name or regrading.suite.path.name
    count = regrading.task_count
    printer.line(
        (name, "bold"),
        f": grading {counted(count, 'task')} of {recording.path.name} again",
    )

    def tell(report: TaskReport) -> None:
        add(report)
        _print_task(printer, report)

    graded(regrading, cancellation, tell)
    for report in reports:
        _explain(printer, report)
    changed = _changed_count(reports)
    found = conclusion_of(regrading, reports)
    print_reasons(printer, found)
    printer.line(
        f"{verdict_label(found)}: {found.results}"
        f"{describe_score(found)}"
        f"  ·  {f'{changed} not as recorded' if changed else 'all as recorded'}"
    )
    for line in (_about_judges(regrading, reports), _about_files(reports)):
        if line:
            printer.line((line, "dim"))


def _about_judges(regrading: Regrading, reports: Sequence[TaskReport]) -> str:
    """Return a note about judges: their cost, or whose verdicts stay as recorded."""
    if regrading.request.judge_executor is not None:
        cost = regrading.meter.cost
        return f"judges: {regrading.meter.tokens:,} tokens" + (f", {dollars(cost.usd)}" if cost.known else "")
    names = _recorded_graders(reports, of_files=False)
    return f"as recorded, for no judge was asked: {names} (--judge-executor NAME asks again)" if names else ""


def _about_files(reports: Sequence[TaskReport]) -> str:
    """Return the graders whose verdicts are copied because the agent's files are missing."""
    names = _recorded_graders(reports, of_files=True)
    return f"as recorded, for the workspace was not kept: {names} (--workspace DIR grades)" if names else ""


def _recorded_graders(reports: Sequence[TaskReport], *, of_files: bool) -> str:
    kept = {
        grader_label(name)
        for report in reports
        for trial in report.task.trials
        for name, verdict in (trial.validations or {}).items()
        if is_recorded(verdict) and needs_agent_files(verdict) is of_files
    }
    return ", ".join(sorted(kept))


def _print_task(printer: Printer, report: TaskReport) -> None:
    then = f"  (was {report.recorded.status})" if _is_other(report) else ""
    if report.doubted:
        then += "  (was recorded as passed, which a verdict contradicts)"
    score = f"  {format_score(report.score)}" if report.concluded.scored else ""
    why = describe_feedback(report.concluded.hidden_reason)
    printer.line(mark_of(report.concluded), f" {report.now.id}{score}", why, (then, "dim"))


def _explain(printer: Printer, report: TaskReport) -> None:
    """Print why a task does not pass, and every grader whose verdict has changed."""
    lines: list[tuple[Part, ...]] = [
        (
            *("    ", verdict_mark(grader.status, passed=grader.passed)),
            f" {grader_label(name)}  {_score(grader)}",
            *((_describe_change(grader, report), "dim"), describe_feedback(grader.feedback)),
        )
        for name, grader in report.now.graders.items()
        if not grader.passed or _describe_change(grader, report)
    ]
    # Verdicts of checkpoints stay as recorded, and may be the only ones.
    lines += [
        (
            "    ",
            MARKS[grader.verdict],
            f" {grader_label(grader.name)}  {format_score(grader.score)}",
            describe_feedback(grader.feedback),
        )
        for grader in report.concluded.graders
        if grader.name not in report.now.graders and grader.verdict != "passed"
    ]
    if not lines and not report.now.error:
        return
    printer.line()
    printer.line(mark_of(report.concluded), " ", (report.now.id, "bold"))
    if report.now.error:
        printer.lines(report.now.error, "    ")
    if (cause := report.concluded.cause) is not None:
        printer.line("    ", (f"{cause.kind}: {cause.evidence}", "dim"))
    for line in lines:
        printer.line(*line)


def _changed_count(reports: Sequence[TaskReport]) -> int:
    return sum(_differs(report) for report in reports)


def _differs(report: TaskReport) -> bool:
    graders = report.now.graders.values()
    return _is_other(report) or report.doubted or any(_describe_change(grader, report) for grader in graders)


def _is_other(report: TaskReport) -> bool:
    return report.now.status != report.recorded.status and not report.part


def _describe_change(grader: GraderResult, report: TaskReport) -> str:
    recorded = report.recorded.graders.get(grader.name)
    if recorded is None:
        return "  (new)"
    if abs(recorded.score - grader.score) < 1e-9 and recorded.passed == grader.passed:
        return ""
    return f"  (was {format_score(recorded.score)}{', passed' if recorded.passed else ''})"


def _score(grader: GraderResult) -> str:
    return "" if grader.status == "pending" else format_score(grader.score)
