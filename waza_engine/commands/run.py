"""``waza-engine run``: what is printed while a suite runs, and the exit code."""

from __future__ import annotations

import contextlib
import os
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from waza_engine.commands.complaints import Complaints
from waza_engine.commands.options import ReportKind
from waza_engine.commands.output import StandardOutput
from waza_engine.commands.printer import Printer
from waza_engine.commands.report import TextReport
from waza_engine.commands.reporting import report_of
from waza_engine.commands.requests_to_end import RequestsToEnd
from waza_engine.results.codec.runs import run_document
from waza_engine.results.conclusion import EXIT_CODES, conclude
from waza_engine.results.json_values import plain
from waza_engine.results.places import file_segment, record_boundary
from waza_engine.results.record import RunOutcome
from waza_engine.results.task_conclusion import tasks_by_name, trial_changes
from waza_engine.results.writing.attached import Attachments
from waza_engine.results.writing.store import (
    ResultsError,
    check_writable,
    encoded_run,
    is_kept,
    write_atomically,
    write_output,
)
from waza_engine.runs.events.stream import RunEvent
from waza_engine.runs.limits.budget import Meter
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.loading.discovery import eval_file_of, suite_of_task
from waza_engine.runs.loading.suite import NothingAffectedError, SuiteError
from waza_engine.runs.preparing import prepare
from waza_engine.runs.run import PreparedRun, RunReport
from waza_engine.runs.settings.table import RunSettings
from waza_engine.scoring.paired import SIGNIFICANT, paired_p
from waza_engine.scoring.recommendation import ModelFigures, Recommendation, price_decides, settled
from waza_engine.scoring.recommendation import recommend as recommend_model
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.file_names import EVAL_NAMES
from waza_engine.terminal import complain

NOT_RUN, INTERRUPTED = EXIT_CODES["broken"], EXIT_CODES["interrupted"]
# Of several runs the worst counts.
_SEVERITY = tuple(
    EXIT_CODES[verdict] for verdict in ("passed", "errored", "failed", "limited", "broken", "interrupted")
)


def run_command(
    settings: RunSettings,
    output: Path | None,
    output_format: str,
    *,
    verbose: bool | None = None,
    reporters: Sequence[str] = (),
    models: Sequence[str] = (),
    recommend: bool = False,
) -> int:
    """Run a suite and return the exit code. ``output_format`` is ``text``, ``json``, ``jsonl`` or ``github``.

    ``reporters`` are ``junit:FILE`` each; their files are written however the run ends. Several models run
    one after the other within the same limits; the name of the model goes into the name of every file then,
    and JSON is a list. ``verbose`` None is as ``.waza.yaml`` says.
    """
    try:
        reports = [_report_file(reporter) for reporter in reporters]
        _check_models(models, settings.judge_model, recommend=recommend)
        several = len(models) > 1
        meter = Meter(settings.budget)
        eval_file = eval_file_of(settings.path)
        runs = [
            _Planned(
                prepare(replace(settings, path=eval_file, model=model), meter, kept=output is not None),
                output and _of_model(output, model if several else None),
                [_of_model(file, model if several else None) for file in reports],
            )
            for model in models or (None,)
        ]
        _check_files([file for run in runs for file in run.files], eval_file)
        for directory in (settings.transcript_directory, settings.session_directory):
            if directory is not None:
                check_writable(directory / "any")
    except NothingAffectedError as error:
        return _nothing_to_run(error, output_format)
    except (SuiteFileError, SuiteError, ResultsError) as error:
        return _refused(error, settings.path)
    cancellation = RunCancellation()
    printed = StandardOutput(cancellation.request)
    found, kept = _carried_out(
        runs, output_format, printed, cancellation, verbose=verbose, recommend=recommend
    )
    if output_format == "json":
        documents = [run_document(report.outcome) for report in found]
        printed.say_json(documents if several else documents[0], indent=2)
    if output_format == "github":
        _show_on_github(found, printed, eval_file)
    printed.flush()
    printed.complain()
    for lost in dict.fromkeys(report.lost for report in found if report.lost):
        complain(lost)
    codes = [
        _exit_code(report, kept=is_kept and not report.lost)
        for report, is_kept in zip(found, kept, strict=True)
    ]
    return NOT_RUN if printed.failure is not None else max(codes, key=_SEVERITY.index)


def _carried_out(
    runs: Sequence[_Planned],
    output_format: str,
    printed: StandardOutput,
    cancellation: RunCancellation,
    *,
    verbose: bool | None,
    recommend: bool,
) -> tuple[list[RunReport], list[bool]]:
    """Run one after the other; return the reports, and of each whether all of its results are kept.

    The files of a run are written first, then it is told what the run came to.
    """
    found: list[RunReport] = []
    kept: list[bool] = []
    summaries: list[Callable[[RunReport, bool], None]] = []
    for run in runs:
        report, summarize = _told(run.prepared, output_format, printed, cancellation, verbose=verbose)
        found.append(report)
        summaries.append(summarize)
        if not recommend:
            kept.append(_written(report, run))
            summarize(report, kept[-1])
        if cancellation.requested:
            break
    if not recommend:
        return found, kept
    ranking: list[str] = []
    if len(found) == len(runs) and not cancellation.requested:
        found, ranking = _recommended(found)
    for report, run, summarize in zip(found, runs, summaries, strict=False):
        kept.append(_written(report, run))
        summarize(report, kept[-1])
    for line in ranking if output_format in ("text", "github") else ():
        Printer(printed.stream).line(line)
    return found, kept


def _nothing_to_run(error: NothingAffectedError, output_format: str) -> int:
    # Whoever reads documents gets none.
    say = Printer().line if output_format in ("text", "github") else complain
    for sentence in error.sentences:
        say(sentence)
    return EXIT_CODES["passed"]


def _refused(error: Exception, path: Path) -> int:
    """Say why nothing is run, and return the exit code."""
    wrong_file = _about_a_task(path)
    sentences = error.sentences if isinstance(error, SuiteError) else (str(error),)
    for sentence in (wrong_file,) if wrong_file else sentences:
        complain(sentence)
    return NOT_RUN


def _about_a_task(path: Path) -> str:
    """Return what to run in place of a task file, "" for a path that is none."""
    found = suite_of_task(path) if path.is_file() and path.name not in EVAL_NAMES else None
    if found is None:
        return ""
    suite, name = found
    place = os.path.relpath(suite)
    return f"{path} is a task; run it with its suite: `waza-engine run {place} --task {name}`."


@dataclass(frozen=True, slots=True)
class _Planned:
    prepared: PreparedRun
    output: Path | None
    reports: Sequence[Path]

    @property
    def files(self) -> Sequence[Path]:
        return (*self.reports, *(() if self.output is None else (self.output,)))


def _told(
    prepared: PreparedRun,
    output_format: str,
    printed: StandardOutput,
    cancellation: RunCancellation,
    *,
    verbose: bool | None,
) -> tuple[RunReport, Callable[[RunReport, bool], None]]:
    """Run and print what happens; return the report, and what prints what it came to once it is written."""
    if output_format in ("text", "github"):
        with TextReport(
            prepared, printed.stream, verbose=prepared.verbose if verbose is None else verbose
        ) as report:
            return _run(prepared, report.tell, cancellation), report.summarize
    if output_format == "jsonl":
        return _run(prepared, lambda event: _print_event(event, printed), cancellation), _say_nothing
    complaints = Complaints()
    return _run(prepared, lambda event: _print_warning(event, complaints), cancellation), _say_nothing


def _say_nothing(report: RunReport, is_kept: bool) -> None:
    del report, is_kept


def _show_on_github(found: Sequence[RunReport], printed: StandardOutput, eval_file: Path) -> None:
    """Print annotations below the text, and write the summary of the step."""
    from waza_engine.commands.github_output import github_report

    for report in found:
        try:
            told = github_report(run_document(report.outcome), eval_file)
        except ResultsError as error:
            complain(str(error))
            continue
        printed.flush()
        printed.say_document(told, "commands")


def _check_models(models: Sequence[str], judge: str | None, *, recommend: bool) -> None:
    for option, names in (("--model", models), ("--judge-model", () if judge is None else (judge,))):
        if not all(name.strip() for name in names):
            raise SuiteError(f"`{option}` names no model; write its name, or leave the option out.")
    if len(set(models)) < len(models):
        raise SuiteError("`--model` names a model twice; name each once.")
    if recommend and len(models) < 2:
        raise SuiteError("`--recommend` compares models; name two or more with `--model`.")


def _check_files(files: Sequence[Path], eval_file: Path) -> None:
    """Raise ``ResultsError`` for what cannot be written, ``SuiteError`` for what would be written twice."""
    places: set[str] = set()
    for file in files:
        check_writable(file, eval_file)
        place = os.path.realpath(file).casefold()  # many disks do not tell `A` from `a`
        if place in places:
            raise SuiteError(f"{file} would be written twice; name another file, or run the models apart.")
        if file.is_file() or not file.exists():  # a device takes both
            places.add(place)


def _of_model(file: Path, model: str | None) -> Path:
    """Return the name of a file for one of several models: ``out.json`` becomes ``out_gpt-4o.json``."""
    if model is None:
        return file
    return file.with_name(f"{file.stem}_{file_segment(model)}{file.suffix}")


def _recommended(found: Sequence[RunReport]) -> tuple[list[RunReport], list[str]]:
    """Return the reports with the recommendation, which their result files get, too, and its lines."""
    figures = [
        ModelFigures(
            model=report.outcome.header.model,
            aggregate_score=report.outcome.summary.aggregate_score,
            pass_rate=report.outcome.summary.success_rate,
            std_dev=report.outcome.summary.std_dev,
            duration_ms=report.outcome.summary.duration_ms,
        )
        for report in found
    ]
    ranking = recommend_model(figures)
    if ranking is None:
        return list(found), []
    tied, equal = _tied_with(ranking.winner.model, found)
    prices = {report.outcome.header.model: _price(report.outcome) for report in found}
    ranking = settled(ranking, equal, prices)
    lines = [
        f"{place}. {each.model}  {each.score:.1f} of 10" for place, each in enumerate(ranking.ranking, 1)
    ]
    margin = f", {ranking.margin_percent:.0f} % ahead" if ranking.margin_percent else ""
    if len(tied) > 1:
        decides = "the price decides" if price_decides(equal, prices) else "the points decide"
        lines.append(f"a tie: {', '.join(tied)}: too few trials to tell them from chance; {decides}")
    lines.append(f"recommended: {ranking.winner.model}{margin}")
    return [_with_recommendation(report, ranking) for report in found], lines


def _tied_with(winner: str, found: Sequence[RunReport]) -> tuple[list[str], list[str]]:
    """Return the models that differ from the winner by no more than chance, and those not behind it at all.

    Both have the winner itself.
    """
    tasks = {report.outcome.header.model: tasks_by_name(conclude(report.outcome).tasks) for report in found}
    tied: list[str] = []
    equal: list[str] = []
    best = tasks[winner]
    for model, other in tasks.items():
        both = [name for name in other if name in best]
        steps = [step for name in both for step in trial_changes(best[name], other[name])]
        if model == winner or paired_p(steps) > SIGNIFICANT:
            tied.append(model)
            if sum(steps) >= 0:
                equal.append(model)
    return tied, equal


def _price(outcome: RunOutcome) -> float | None:
    spent = outcome.spending
    return spent.cost.usd if spent is not None and spent.cost.known else None


def _with_recommendation(report: RunReport, ranking: Recommendation) -> RunReport:
    report = replace(report, outcome=replace(report.outcome, recommendation=ranking))
    if report.results_file is not None:
        try:
            within = record_boundary(report.results_file)
            outcome = Attachments(report.results_file, within=within).of_run(report.outcome)
            write_atomically(report.results_file, encoded_run(outcome), within=within)
        except ResultsError as error:
            complain(str(error))
    return report


def _run(
    prepared: PreparedRun,
    listener: Callable[[RunEvent], None],
    cancellation: RunCancellation,
) -> RunReport:
    """Run in a thread of its own, so that Ctrl-C reaches us at once on every system."""
    heard: queue.SimpleQueue[RunReport | Exception | None] = queue.SimpleQueue()

    def work() -> None:
        try:
            heard.put(prepared.run(listener, cancellation))
        except Exception as error:  # noqa: BLE001 - raised by the thread that waits
            heard.put(error)

    requests = RequestsToEnd(lambda: heard.put(None))
    requests.heed()
    threading.Thread(target=work, daemon=True).start()
    while (found := _awaited(heard)) is None:
        if cancellation.requested:
            os._exit(INTERRUPTED)
        cancellation.request()
    requests.run_is_over()
    if isinstance(found, Exception):
        raise found
    return found


def _awaited(heard: queue.SimpleQueue[RunReport | Exception | None]) -> RunReport | Exception | None:
    """Return how the run ended, None when somebody asks for its end; it takes as long as it takes.

    On Windows only a wait that ends now and then can be interrupted.
    """
    while True:
        with contextlib.suppress(queue.Empty):
            return heard.get(timeout=0.2)


def _written(report: RunReport, run: _Planned) -> bool:
    """Write the files of a run that were asked for; return whether all of its results are kept."""
    return all([_written_copy(report, run.output), *(_reported(report, file) for file in run.reports)])


def _written_copy(found: RunReport, output: Path | None) -> bool:
    """Write the file of ``-o``; return whether the results are kept where they were asked for."""
    if output is None:
        return found.results_file is not None
    try:
        outcome = Attachments(output).of_run(found.outcome) if is_kept(output) else found.outcome
        write_output(output, encoded_run(outcome))
    except ResultsError as error:
        complain(str(error))
        return False
    return True


def _report_file(reporter: str) -> Path:
    kind, colon, file = reporter.partition(":")
    if kind != "junit" or not colon or not file:
        raise SuiteError(f"`--reporter {reporter}` is not a reporter; write `--reporter junit:FILE`.")
    return Path(file)


def _reported(found: RunReport, file: Path) -> bool:
    try:
        write_output(file, report_of(run_document(found.outcome), ReportKind.JUNIT))
    except ResultsError as error:
        complain(str(error))
        return False
    return True


def _exit_code(found: RunReport, *, kept: bool) -> int:
    code = conclude(found.outcome).exit_code
    return code if kept or code == INTERRUPTED else NOT_RUN


def _print_event(event: RunEvent, printed: StandardOutput) -> None:
    printed.say_json(plain(event.document()))


def _print_warning(event: RunEvent, complaints: Complaints) -> None:
    if text := complaints.new_in(event):
        complain(text)
    elif event.kind == "ended" and event.status == "error":
        text = f"error: {event.message}"
        if not complaints.has_told(text):
            complain(text)
