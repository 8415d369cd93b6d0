"""Print a run for people: a progress bar on a terminal, plain lines in a pipe, and the results at the end."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import IO, TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from waza_engine.commands.conclusion_text import (
    MARKS,
    describe_feedback,
    describe_score,
    mark_of,
    print_conclusion,
    run_mark,
    verdict_mark,
)
from waza_engine.commands.printer import BufferedPrinter, Part, Printer
from waza_engine.counting import counted
from waza_engine.number_formats import format_score
from waza_engine.results.codec.run_documents import summary_document
from waza_engine.results.conclusion import conclude
from waza_engine.results.record import TrialOutcome, verdicts_of
from waza_engine.results.reports.descriptions import describe_impact, describe_spending
from waza_engine.results.task_conclusion import TaskConclusion
from waza_engine.terminal import visible
from waza_engine.vocabulary import grader_label

if TYPE_CHECKING:
    from waza_engine.runs.events.stream import RunEvent
    from waza_engine.runs.run import PreparedRun, RunReport


_SHORTEST_NAME = 8
_ROOM_FOR_BAR = 36
"""Columns of the bar, the count and the time."""


def progress_bars(output: IO[str]) -> Progress:
    """Return the display of the active runs on standard output; it is shown only if that is a terminal."""
    printer = Printer(output)
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=printer.console,
        transient=True,
        disable=not printer.is_terminal,
    )


class TextReport:
    """Prints the events of a run, with a bar of its own in ``progress``.

    ``held``: other runs are active, so it prints when it ends. ``quiet``: it prints what did not pass.
    """

    def __init__(
        self,
        prepared: PreparedRun,
        progress: Progress,
        output: IO[str],
        *,
        verbose: bool,
        quiet: bool = False,
        held: bool = False,
    ) -> None:
        self._prepared = prepared
        self._verbose = verbose
        self._quiet = quiet
        self._printed_warnings = PrintedWarnings()
        self._answering = ""
        printers = Printer(output), Printer(errors=True)
        printers[0].console = progress.console
        self._held = [BufferedPrinter(printer) for printer in printers] if held else []
        self._printer, self._errors = self._held or printers
        self._progress = progress
        self._suite = f"{visible(prepared.header.eval_name)}: " if held else ""
        self._bar = progress.add_task(f"{self._suite}starting", total=None)

    def handle(self, event: RunEvent) -> None:
        """Print an event; called by the run."""
        if event.total is not None:
            self._progress.update(self._bar, completed=event.completed or 0, total=event.total)
        match event.kind:
            case "run_started" if not self._quiet:
                self._printer.line(*self._headline())
            case "started":
                name = event.task or event.prompt or ""
                self._progress.update(self._bar, description=self._shortened(f"{self._suite}{name}"))
            case "output" if is_warning(event):
                self._print_warning(event)
            case "output" if self._verbose and event.message:
                self._print_answer(event)
            case "passed" | "skipped" if self._quiet:
                pass
            case "passed" | "failed" | "errored" | "skipped" | "pending" if event.trial is None:
                score = "" if event.score is None else f"  {format_score(event.score)}"
                note = "  without skills" if event.baseline else "  from the cache" if event.cached else ""
                if event.kind == "failed" and score.endswith(format_score(1.0)) and event.message:
                    # The failed grader has no weight in the score.
                    note += describe_feedback(event.message)[0]
                elif event.kind == "passed" and event.message:
                    note += f"  so far: {event.message}"
                self._printer.line(MARKS[event.kind], f" {event.task or ''}{score}", (note, "dim"))
                self._answering = ""
            case _:
                pass

    def summarize(self, report: RunReport, is_written: bool = True, copy: Path | None = None) -> None:
        """Print what did not pass and why, the totals, and where the results and their ``copy`` are.

        A run whose results could not be written (``is_written``) does not pass.
        """
        # A short run has not been drawn yet.
        self._progress.refresh()
        self._progress.remove_task(self._bar)
        self._summarize(report, is_written, copy)
        for printer in self._held:
            printer.release()

    def _summarize(self, report: RunReport, is_written: bool, copy: Path | None) -> None:
        outcome = report.outcome
        found = conclude(outcome)
        if self._quiet and is_written and found.verdict == "passed":
            name = outcome.header.eval_name or self._prepared.suite.path.name
            self._printer.line(run_mark(found), f" {name}: {found.results}{describe_score(found)}")
            return
        for task in found.tasks:
            self._explain(task)
        print_conclusion(self._printer, found, outcome.summary.duration_ms, is_written=is_written)
        cached = sum(task.cached for task in outcome.tasks)
        for line in (
            describe_spending(summary_document(outcome)),
            f"{cached} of {counted(found.counts.total, 'task')} taken from the cache" if cached else "",
        ):
            if line:
                self._printer.line(line)
        if outcome.header.settings.get("skip_graders"):
            self._printer.line("answers only; `waza-engine grade` grades them")
        if outcome.message:
            self._errors.line((outcome.message, "red"))
        was_printed = self._printed_warnings.has_printed(f"error: {report.write_error}")
        if report.write_error and not was_printed:
            self._errors.line((report.write_error, "red"))
        files = [file for file in (report.results_file, copy) if file is not None]
        if was_printed and not files:
            self._printer.line("results: not kept, the error above says why")
        for file in files:
            self._printer.line(f"results: {file}")

    def _shortened(self, task: str) -> str:
        """Return the name of a task, short enough for the bar, the count and the time next to it."""
        name = Text(visible(task))
        name.truncate(max(_SHORTEST_NAME, self._printer.console.width - _ROOM_FOR_BAR), overflow="ellipsis")
        return name.plain

    def _headline(self) -> tuple[Part, ...]:
        header, count = self._prepared.header, len(self._prepared.task_ids)
        name = header.eval_name or self._prepared.suite.path.name
        trials = f", {self._prepared.trials} trials each" if self._prepared.trials > 1 else ""
        what = f"{counted(count, 'task')}{trials}" if count else "trigger prompts"
        model = f" ({header.asked_model})" if header.asked_model else ""
        twice = ", then all without skills" if self._prepared.baseline else ""
        return (
            (name, "bold"),
            f": {what}, ",
            f"executor {header.executor}{model}{twice}",
        )

    def _print_answer(self, event: RunEvent) -> None:
        """Print an answer, or a call, below its task: those of several tasks may come in turns."""
        if event.task is None:
            self._printer.lines(event.message or "", "", "dim")
            return
        trial = f", trial {event.trial}" if self._prepared.trials > 1 else ""
        note = ", without skills" if event.baseline else ""
        head = f"{event.task}{trial}{note}"
        if head != self._answering:
            self._printer.line((head, "dim"))
        self._answering = head
        self._printer.lines(event.message or "", "  │ ", "dim")

    def _print_warning(self, event: RunEvent) -> None:
        colour = "red" if (event.message or "").startswith("error: ") else "yellow"
        printer = self._printer if self._printer.is_terminal else self._errors
        if text := self._printed_warnings.new_in(event):
            printer.line((text, colour))

    def _explain(self, found: TaskConclusion) -> None:
        task = found.task
        is_shown = (
            found.verdict in ("failed", "errored")
            or found.waits
            or task.error
            or task.impact
            or found.has_advice
        )
        if not (is_shown or self._verbose):
            return
        trials = f"  {found.share} trials" if found.share else ""
        trials += f"  ·  {found.estimates.words}" if found.estimates is not None else ""
        self._printer.line()
        self._printer.line(mark_of(found), " ", (task.id, "bold"), trials)
        if task.error:
            self._printer.lines(task.error, "    ")
        if found.cause is not None:
            self._printer.line("    ", (f"{found.cause.kind}: {found.cause.evidence}", "dim"))
        if task.impact is not None:
            self._printer.line("    ", (describe_impact(asdict(task.impact)), "dim"))
        seen: set[tuple[str, str]] = set()
        for trial in task.trials:
            self._explain_trial(trial, seen, many=len(task.trials) > 1)

    def _explain_trial(self, trial: TrialOutcome, seen: set[tuple[str, str]], *, many: bool) -> None:
        """Print each message once: trials often fail alike."""
        where = f"trial {trial.number}: " if many else ""
        if trial.error and (trial.error, "") not in seen:
            seen.add((trial.error, ""))
            self._printer.lines(trial.error, f"    {where}")
        for name, verdict in verdicts_of(trial):
            message = (name, verdict.feedback)
            if message in seen or (verdict.passed and not self._verbose):
                continue
            seen.add(message)
            score = "" if verdict.status == "pending" else format_score(verdict.score)
            self._printer.line(
                "    ",
                verdict_mark(verdict.shown_status, passed=verdict.passed),
                f" {where}{grader_label(name)}  {score}",
                describe_feedback(verdict.feedback),
            )


_BEGINNINGS = ("warning: ", "error: ")


def is_warning(event: RunEvent) -> bool:
    """Return whether an event is a warning, and not an answer."""
    return event.kind == "output" and (event.message or "").startswith(_BEGINNINGS)


class PrintedWarnings:
    """The warnings that were printed: each is printed once."""

    def __init__(self) -> None:
        self._printed: set[str] = set()

    def has_printed(self, text: str) -> bool:
        """Return whether exactly this was printed already."""
        return text in self._printed

    def new_in(self, event: RunEvent) -> str:
        """Return the warning of an event, after the task it is about; "" for none and for a repeated one."""
        if not is_warning(event):
            return ""
        text = f"{event.task}: {event.message}" if event.task else event.message or ""
        if self.has_printed(text):
            return ""
        self._printed.add(text)
        return text
