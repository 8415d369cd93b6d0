"""``waza-engine run``: the output while a suite runs, and the exit code."""

from __future__ import annotations

import contextlib
import os
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from waza_engine.commands.cluster import ChosenCluster
from waza_engine.commands.command_words import command_line
from waza_engine.commands.each_suite import RefusedSuite, file_for_suite, summarize_suites, try_writing
from waza_engine.commands.printer import Printer, StandardOutput
from waza_engine.commands.requests_to_end import RequestsToEnd
from waza_engine.commands.run_output import PrintedWarnings, TextReport, progress_bars
from waza_engine.commands.telemetry import Telemetry, TelemetryOptions
from waza_engine.masking import masked_across
from waza_engine.results.codec.run_documents import run_document
from waza_engine.results.conclusion import EXIT_CODES, INTERRUPTED, NOT_RUN, WORST_LAST, conclude
from waza_engine.results.json_values import plain
from waza_engine.results.record import RunOutcome
from waza_engine.results.result_file_names import file_segment, record_boundary
from waza_engine.results.task_conclusion import tasks_by_name, trial_changes
from waza_engine.results.writing.store import (
    Attachments,
    ResultsError,
    check_writable,
    encoded_run,
    write_atomically,
    write_output,
    write_run,
)
from waza_engine.runs.events.stream import RunEvent
from waza_engine.runs.limits.budget import Meter
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.loading.discovery import eval_files_of, foreign_eval_files, suite_of_task
from waza_engine.runs.loading.suite_on_disk import NothingAffectedError, SuiteError
from waza_engine.runs.preparing import prepare
from waza_engine.runs.run import PreparedRun, RunReport
from waza_engine.runs.settings.table import RunSettings
from waza_engine.runs.trials.backend import BackendFactory
from waza_engine.scoring.impact import ModelFigures, Recommendation, price_decides, settled
from waza_engine.scoring.impact import recommend as recommend_model
from waza_engine.scoring.statistics import SIGNIFICANT, paired_p
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.searched_folders import EVAL_NAMES
from waza_engine.terminal import complain

if TYPE_CHECKING:
    from waza_engine.commands.run_again import Narrowing


def run_command(
    paths: Sequence[Path],
    settings: RunSettings,
    output: Path | None,
    output_format: str,
    *,
    verbose: bool | None = None,
    reporters: Sequence[str] = (),
    models: Sequence[str] = (),
    recommend: bool = False,
    telemetry: TelemetryOptions | None = None,
    jobs: int = 1,
    quiet: bool = False,
    layout: str = "",
    narrowing: Narrowing = lambda settings: settings,
    certificates: Path | None = None,
    store: str | None = None,
) -> int:
    """Run the suites that ``paths`` select and return the worst exit code.

    ``output_format`` is ``text``, ``json``, ``jsonl`` or ``github``. ``reporters`` are ``junit:FILE`` each;
    their files are written however the run ends. Up to ``jobs`` suites run at the same time, and all suites
    and models within the same budget. With several models the name of the model goes into the name of each
    file, with several suites their directory into that of ``output``; JSON is a list, and for several suites
    ``{"suites": [...]}``. ``verbose`` None is as ``.waza.yaml`` says. ``quiet`` prints what did not pass.
    ``narrowing`` returns the settings of a suite with the tasks that are wanted of it. ``layout`` is
    ``skill-creator`` to write such a folder for each run as well. The cluster of the settings has the
    ``certificates`` of a folder, and the state of its trials in an object ``store``.
    """
    try:
        exporter = Telemetry(telemetry or TelemetryOptions(), output_format)
        junit_files = [report_file(reporter) for reporter in reporters]
        _check_models(models, settings.judge_model, recommend=recommend)
        chosen = ChosenCluster(settings.cluster, certificates, store, resumes=settings.resume)
        keeps_workspaces = settings.keep_workspace
        # The folder of a layout has the files of the agents.
        settings = replace(settings, keep_workspace=keeps_workspaces or bool(layout))
        paths, settings = _to_resume(paths, settings, models, chosen)
        plan = _plan(paths, settings, output, models, narrowing, chosen.backend)
        if plan.several and recommend:
            raise SuiteError("`--recommend` compares the models of one suite; name one suite.")
        written = [
            _of_model(file, model)
            for file in junit_files
            for model in dict.fromkeys(run.model for run in plan.runs)
        ]
        copies = [run.output for run in plan.runs if run.output is not None]
        _check_files([*copies, *written], plan.eval_files[0])
        for directory in (settings.transcript_directory, settings.session_directory):
            if directory is not None:
                check_writable(directory / "any")
    except NothingAffectedError as error:
        return _nothing_to_run(error, output_format)
    except (SuiteFileError, SuiteError, ResultsError) as error:
        return _refused(error, paths[0])
    cancellation = RunCancellation()
    printed = StandardOutput(cancellation.request)
    # Suites with nothing to run have a row in the table.
    for sentence in (sentence for suite in plan.refused if suite.is_broken for sentence in suite.sentences):
        complain(sentence)
    display = _Display(
        output_format, printed, exporter, verbose=verbose, quiet=quiet, held=min(jobs, len(plan.runs)) > 1
    )
    try:
        with chosen.opened():
            ended = _executed(
                plan,
                display,
                cancellation,
                junit_files,
                jobs=jobs,
                recommend=recommend,
                lay_out=partial(_laid_out, layout=layout, keeps_workspaces=keeps_workspaces),
            )
    except SuiteError as error:
        return _refused(error, paths[0])
    found = [run.report for run in ended]
    if output_format == "json":
        _print_documents(printed, plan, found, models)
    if output_format == "github":
        _show_on_github(ended, printed)
    if plan.several and output_format in ("text", "github"):
        reports = [(run.planned.eval_file, run.report) for run in ended]
        summarize_suites(Printer(printed.stream), reports, plan.refused, plan.eval_files)
    codes = [_exit_code(run.report, kept=run.is_written and not run.report.lost) for run in ended]
    printed.flush()
    printed.complain()
    exporter.export(report.outcome for report in found)
    for lost in dict.fromkeys(report.lost for report in found if report.lost):
        complain(lost)
    codes += [suite.exit_code for suite in plan.refused]
    # An interruption before the first suite has ended leaves no code.
    codes += [INTERRUPTED] if cancellation.requested and not codes else []
    return NOT_RUN if printed.failure is not None else max(codes, key=WORST_LAST.index)


def _print_documents(
    printed: StandardOutput, plan: _Plan, found: Sequence[RunReport], models: Sequence[str]
) -> None:
    documents: list[Any] = [run_document(report.outcome) for report in found]
    if plan.several:
        refused = [
            {"path": str(suite.eval_file), "error": " ".join(suite.sentences)} for suite in plan.refused
        ]
        printed.say_json({"suites": [*documents, *refused]}, indent=2)
    else:
        printed.say_json(documents if len(models) > 1 else documents[0], indent=2)


def _to_resume(
    paths: Sequence[Path], settings: RunSettings, models: Sequence[str], chosen: ChosenCluster
) -> tuple[Sequence[Path], RunSettings]:
    """Return the paths of suites and, with ``--resume``, the settings with the record that the paths name.

    Before, the trials of a killed run are fetched from their store.
    """
    if not settings.resume:
        return paths, settings
    from waza_engine.runs.resuming import paths_and_record

    paths, record = paths_and_record(paths)
    if len(eval_files_of(paths)) > 1 or len(models) > 1:
        raise SuiteError("`--resume` goes on with the run of one suite; name one suite.")
    chosen.fetch(paths)
    return paths, replace(settings, record=record)


def _plan(
    paths: Sequence[Path],
    settings: RunSettings,
    output: Path | None,
    models: Sequence[str],
    narrowing: Narrowing,
    backend: BackendFactory,
) -> _Plan:
    """Load the selected suites. One that cannot run is noted among several; alone, its error is raised."""
    eval_files = eval_files_of(paths)
    for other in foreign_eval_files(paths):
        complain(str(other))
    several = len(eval_files) > 1
    meter = Meter(settings.budget)
    runs: list[_Planned] = []
    refused: list[RefusedSuite] = []
    for eval_file in eval_files:
        try:
            for model in models or (None,):
                chosen = narrowing(replace(settings, path=eval_file, model=model))
                compared = model if len(models) > 1 else None
                copy = output and _of_model(file_for_suite(output, eval_file if several else None), compared)
                prepared = prepare(chosen, meter, backend, kept=output is not None)
                runs.append(_Planned(prepared, eval_file, compared, copy))
        except (SuiteFileError, SuiteError) as error:
            if not several:
                raise
            refused.append(RefusedSuite(eval_file, error))
    return _Plan(eval_files, runs, refused)


def _executed(
    plan: _Plan,
    display: _Display,
    cancellation: RunCancellation,
    junit_files: Sequence[Path],
    *,
    jobs: int,
    recommend: bool,
    lay_out: Callable[[_Ended], bool],
) -> list[_Ended]:
    """Execute the plan, and return the runs that have ended, in order.

    The files of a run are written before its verdict is printed. A JUnit file is written again after each
    suite, so that it has the finished ones if the process is killed.
    """
    ended: dict[int, _Ended] = {}

    def finish(index: int) -> None:
        ended[index].is_written = _written(ended, index, plan, junit_files)
        display.summarize(index, ended[index])
        ended[index].is_written &= lay_out(ended[index])

    with display:
        for index, report in _reports(plan, display, cancellation, jobs):
            ended[index] = _Ended(plan.runs[index], report)
            if not recommend:
                finish(index)
        ranking: list[str] = []
        if recommend:
            if len(ended) == len(plan.runs) and not cancellation.requested:
                reports, ranking = _recommended([ended[index].report for index in sorted(ended)])
                for index, report in enumerate(reports):
                    ended[index].report = report
            for index in sorted(ended):
                finish(index)
    for line in ranking if display.is_text else ():
        Printer(display.printed.stream).line(line)
    return [ended[index] for index in sorted(ended)]


def _reports(
    plan: _Plan, display: _Display, cancellation: RunCancellation, jobs: int
) -> Iterator[tuple[int, RunReport]]:
    """Run up to ``jobs`` suites at the same time, and yield the index and the report of each as it ends.

    The runs of a suite, for several models, are one after the other. Each is in a thread of its own, so that
    Ctrl-C reaches this one immediately on every system: the first cancels the active runs, the second ends
    the process.
    """
    heard: queue.SimpleQueue[tuple[int, RunReport | Exception] | None] = queue.SimpleQueue()

    def work(index: int, listener: Callable[[RunEvent], None]) -> None:
        try:
            heard.put((index, plan.runs[index].prepared.run(listener, cancellation)))
        except Exception as error:  # noqa: BLE001 - raised by the thread that waits
            heard.put((index, error))

    requests = RequestsToEnd(lambda: heard.put(None))
    requests.heed()
    waiting, active = list(range(len(plan.runs))), dict[int, Path]()
    while True:
        for index in [] if cancellation.requested else list(waiting):
            if len(active) < jobs and plan.runs[index].eval_file not in active.values():
                waiting.remove(index)
                active[index] = plan.runs[index].eval_file
                listener = display.start(index, plan.runs[index].prepared)
                threading.Thread(target=work, args=(index, listener), daemon=True).start()
        if not active:
            break
        found = _awaited(heard)
        if found is None:
            if cancellation.requested:
                os._exit(INTERRUPTED)
            cancellation.request()
            continue
        index, report = found
        del active[index]
        if isinstance(report, Exception):
            cancellation.request()
            raise report
        yield index, report
    requests.run_is_over()


def _nothing_to_run(error: NothingAffectedError, output_format: str) -> int:
    # Formats for programs get no document.
    say = Printer().line if output_format in ("text", "github") else complain
    for sentence in error.sentences:
        say(sentence)
    return EXIT_CODES["passed"]


def _refused(error: Exception, path: Path) -> int:
    """Report why nothing is run, and return the exit code."""
    wrong_file = _about_a_task(path)
    sentences = error.sentences if isinstance(error, SuiteError) else (str(error),)
    for sentence in (wrong_file,) if wrong_file else sentences:
        complain(sentence)
    return NOT_RUN


def _about_a_task(path: Path) -> str:
    """Return what to run in place of a task file, "" for any other path."""
    found = suite_of_task(path) if path.is_file() and path.name not in EVAL_NAMES else None
    if found is None:
        return ""
    suite, name = found
    place = os.path.relpath(suite)
    return f"{path} is a task; run it with its suite: `{command_line('run', place, '--task', name)}`."


@dataclass(frozen=True, slots=True)
class _Planned:
    """A run that can start. ``model`` is its model when several are compared, else None."""

    prepared: PreparedRun
    eval_file: Path
    model: str | None
    output: Path | None


@dataclass(frozen=True, slots=True)
class _Plan:
    """The runs of the selected suites, and the suites that cannot run."""

    eval_files: Sequence[Path]
    runs: Sequence[_Planned]
    refused: Sequence[RefusedSuite]

    @property
    def several(self) -> bool:
        """Return whether several suites were selected."""
        return len(self.eval_files) > 1


@dataclass(slots=True)
class _Ended:
    """A run that has ended; ``is_written`` says whether all of its results are written.

    ``copy`` is the file of ``-o`` once it is written.
    """

    planned: _Planned
    report: RunReport
    is_written: bool = False
    copy: Path | None = None


class _Display:
    """The output of the runs in one format. ``with`` shows their progress; ``held`` as for ``TextReport``."""

    def __init__(
        self,
        output_format: str,
        printed: StandardOutput,
        telemetry: Telemetry,
        *,
        verbose: bool | None,
        quiet: bool,
        held: bool,
    ) -> None:
        self._telemetry = telemetry
        self.printed = printed
        self.is_text = output_format in ("text", "github")
        self._events = output_format == "jsonl"
        self._verbose = verbose
        self._quiet = quiet
        self._held = held
        self._progress = progress_bars(printed.stream)
        self._reports: dict[int, TextReport] = {}

    def __enter__(self) -> Self:
        if self.is_text:
            self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def start(self, index: int, prepared: PreparedRun) -> Callable[[RunEvent], None]:
        """Return the listener of the run with an index."""
        if self.is_text:
            verbose = prepared.verbose if self._verbose is None else self._verbose
            report = TextReport(
                prepared,
                self._progress,
                self.printed.stream,
                verbose=verbose and not self._quiet,
                quiet=self._quiet,
                held=self._held,
            )
            self._reports[index] = report
            return self._telemetry.with_listeners(report.handle)
        if self._events:
            return self._telemetry.with_listeners(
                lambda event: self.printed.say_json(plain(event.document()))
            )
        return self._telemetry.with_listeners(partial(_print_warning, printed=PrintedWarnings()))

    def summarize(self, index: int, ended: _Ended) -> None:
        """Print the results of a run, which are written."""
        if index in self._reports:
            self._reports[index].summarize(ended.report, ended.is_written, ended.copy)


def _show_on_github(ended: Iterable[_Ended], printed: StandardOutput) -> None:
    """Print annotations below the text, and write the summary of the step."""
    from waza_engine.commands.github_output import github_report

    for run in ended:
        try:
            annotations = github_report(run_document(run.report.outcome), run.planned.eval_file)
        except ResultsError as error:
            complain(str(error))
            continue
        printed.flush()
        printed.say_document(annotations, "commands")


def _check_models(models: Sequence[str], judge: str | None, *, recommend: bool) -> None:
    for option, names in (("--model", models), ("--judge-model", () if judge is None else (judge,))):
        if not all(name.strip() for name in names):
            raise SuiteError(f"`{option}` names no model; write its name, or leave the option out.")
    if len(set(models)) < len(models):
        raise SuiteError("`--model` names a model twice; name each once.")
    if recommend and len(models) < 2:
        raise SuiteError("`--recommend` compares models; name two or more with `--model`.")


def _check_files(files: Sequence[Path], eval_file: Path) -> None:
    """Raise ``ResultsError`` for an unwritable file, ``SuiteError`` for one that would be written twice."""
    places: set[str] = set()
    for file in files:
        check_writable(file, eval_file)
        place = os.path.realpath(file).casefold()  # many disks ignore case
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
    numbers = [
        ModelFigures(
            model=report.outcome.header.model,
            aggregate_score=report.outcome.summary.aggregate_score,
            pass_rate=report.outcome.summary.success_rate,
            std_dev=report.outcome.summary.std_dev,
            duration_ms=report.outcome.summary.duration_ms,
        )
        for report in found
    ]
    ranking = recommend_model(numbers)
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
    """Return the models within chance of the winner, and those of them with no worse results.

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


def _awaited(
    heard: queue.SimpleQueue[tuple[int, RunReport | Exception] | None],
) -> tuple[int, RunReport | Exception] | None:
    """Wait for the result of a run; return None when the end of all is requested.

    On Windows only a wait that ends now and then can be interrupted.
    """
    while True:
        with contextlib.suppress(queue.Empty):
            return heard.get(timeout=0.2)


def _written(ended: Mapping[int, _Ended], index: int, plan: _Plan, junit_files: Sequence[Path]) -> bool:
    """Write the files of a run that has ended; return whether all of its results are kept."""
    run = ended[index].planned
    same_model = [ended[each] for each in sorted(ended) if ended[each].planned.model == run.model]
    reported = [_reported(same_model, plan, _of_model(file, run.model)) for file in junit_files]
    is_stored = _written_copy(ended[index].report, run.output)
    ended[index].copy = run.output if is_stored else None
    return all([is_stored, *reported])


def _written_copy(found: RunReport, output: Path | None) -> bool:
    """Write the file of ``-o``; return whether the results are stored as requested."""
    if output is None:
        return found.results_file is not None
    return try_writing(lambda: write_run(output, found.outcome))


def _laid_out(ended: _Ended, *, layout: str, keeps_workspaces: bool) -> bool:
    """Write the folder of a run, and say where; return whether it is written, or none is wanted."""
    if not layout:
        return True
    from waza_engine.commands.skill_creator_layout import remove_workspaces, write_layout

    try:
        folder = write_layout(ended.planned.prepared.suite, ended.report.outcome)
    except ResultsError as error:
        complain(str(error))
        return False
    if not keeps_workspaces:
        remove_workspaces(ended.report.outcome)
    complain(f"results for skill-creator's viewer: {folder}")
    return True


def report_file(reporter: str) -> Path:
    """Return the file of a ``--reporter junit:FILE``. Raises ``SuiteError`` for another reporter."""
    kind, colon, file = reporter.partition(":")
    if kind != "junit" or not colon or not file:
        raise SuiteError(f"`--reporter {reporter}` is not a reporter; write `--reporter junit:FILE`.")
    return Path(file)


def _reported(ended: Sequence[_Ended], plan: _Plan, file: Path) -> bool:
    from waza_engine.commands.github_output import SuiteLocations
    from waza_engine.results.reports.junit import junit_report

    documents = [masked_across(run_document(each.report.outcome)) for each in ended]
    places = [SuiteLocations(each.planned.eval_file, str(each.planned.eval_file)) for each in ended]
    refused = {
        os.path.relpath(suite.eval_file): " ".join(suite.sentences)
        for suite in plan.refused
        if suite.is_broken
    }
    return try_writing(lambda: write_output(file, junit_report(*documents, refused=refused, places=places)))


def _exit_code(found: RunReport, *, kept: bool) -> int:
    code = conclude(found.outcome).exit_code
    if "shard" in found.outcome.header.settings and code in (EXIT_CODES["failed"], EXIT_CODES["errored"]):
        # `merge` says whether the whole run passed.
        code = EXIT_CODES["passed"]
    return code if kept or code == INTERRUPTED else NOT_RUN


def _print_warning(event: RunEvent, printed: PrintedWarnings) -> None:
    if text := printed.new_in(event):
        complain(text)
    elif event.kind == "ended" and event.status == "error":
        text = f"error: {event.message}"
        if not printed.has_printed(text):
            complain(text)
