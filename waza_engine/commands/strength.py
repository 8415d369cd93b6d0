"""``waza-engine strength``: how many changes of the recorded answers each grader notices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table

from waza_engine.commands.each_suite import Ended, are_several, first_set_option, for_each_suite
from waza_engine.commands.grade import with_files
from waza_engine.commands.printer import Part, Printer
from waza_engine.executors.executor import Cancellation
from waza_engine.lab.labels import (
    LabelledCase,
    LabelledCaseVerdicts,
    check_tasks,
    contradictions,
    judge_labelled,
    labelled_document,
    labelled_summary,
    open_sentence,
    read_labels,
)
from waza_engine.lab.measuring import (
    GraderStrength,
    finding_sentence,
    measure,
    rejected_sentence,
    strength_document,
    weak_check_sentence,
)
from waza_engine.results.conclusion import INTERRUPTED, NOT_RUN
from waza_engine.results.json_values import plain
from waza_engine.runs.limits.cancellation import CancelledRunError, RunCancellation
from waza_engine.runs.regrading.regrade import RegradeRequest, Regrading, prepare_regrading
from waza_engine.runs.regrading.resident import ResidentSuites
from waza_engine.terminal import complain, say_json
from waza_engine.vocabulary import grader_label

MEASURED, WEAK = 0, 1


def strength_command(
    paths: Sequence[Path],
    request: RegradeRequest,
    output_format: str,
    seed: int,
    references: Path | None = None,
) -> int:
    """Measure the graders of each record and return the exit code; ``request`` has the other options.

    ``output_format`` is ``text`` or ``json``, ``references`` a file of labelled answers to hold them against.
    """
    options = {"--suite": request.suite, "--references": references, "--workspace": request.workspace}
    if are_several(paths) and (given := first_set_option(options)):
        complain(f"`{given}` is about one suite; name that suite.")
        return NOT_RUN

    def show(path: Path) -> Ended:
        return _shown(replace(request, record=path), output_format, seed, references)

    return for_each_suite(paths, show, ("graders", ""), as_json=output_format == "json")


def _shown(request: RegradeRequest, output_format: str, seed: int, references: Path | None) -> Ended:
    cancellation = RunCancellation()
    try:
        labels = [] if references is None else read_labels(references)
        with ResidentSuites() as suites:
            regrading = prepare_regrading(with_files(request), suites)
            if references is not None:
                check_tasks(references, labels, [task.id for task in regrading.suite.tasks])
            found = measure_graders(regrading, cancellation, seed)
            judged = _judged(regrading, labels, cancellation) if labels else []
    except (KeyboardInterrupt, CancelledRunError):
        cancellation.request()
        return Ended(INTERRUPTED, ("– interrupted",))
    if output_format == "json":
        of_labels = {} if references is None else {"references": labelled_document(references, judged)}
        say_json(plain({**answer(regrading, found), **of_labels}))
    else:
        _print_strength(regrading, found)
        if references is not None:
            _print_labelled(references, judged)
    wrong = sum(bool(each.finding or each.rejected) for each in found)
    is_weak = bool(wrong) or any(each.judged == "otherwise" for each in judged)
    row = (
        str(len(found)),
        (f"⚠ {wrong} weak" if wrong else "✓ none is weak", "yellow" if wrong else "green"),
    )
    return Ended(WEAK if is_weak else MEASURED, row)


def measure_graders(regrading: Regrading, cancellation: Cancellation, seed: int = 0) -> list[GraderStrength]:
    """Return the strength of each grader of a record. Raises ``CancelledRunError``."""
    return regrading.with_trials(cancellation, lambda tasks: list(measure(tasks, cancellation, seed)))


def _judged(
    regrading: Regrading, labels: Sequence[LabelledCase], cancellation: Cancellation
) -> list[LabelledCaseVerdicts]:
    all_graders = not regrading.request.graders
    return regrading.with_trials(
        cancellation, lambda tasks: judge_labelled(labels, tasks, cancellation, all_graders=all_graders)
    )


def answer(regrading: Regrading, found: Sequence[GraderStrength]) -> dict[str, Any]:
    """Return the object that programs get."""
    return {
        "record": str(regrading.recording.path),
        "suite": str(regrading.suite.path),
        "graders": strength_document(found),
    }


def _print_strength(regrading: Regrading, found: Sequence[GraderStrength]) -> None:
    printer = Printer()
    recording = regrading.recording
    name = recording.header.eval_name or regrading.suite.path.name
    printer.line((name, "bold"), f": graders measured with {recording.path.name}")
    table = Table(box=box.SIMPLE, pad_edge=False)
    for column in ("grader", "tasks", "strength", "does not notice"):
        table.add_column(column, justify="right" if column == "strength" else "left")
    printer.table(table, _rows(found))
    for each in found:
        if each.finding:
            printer.line(("⚠", "yellow"), f" {finding_sentence(each)}")
    for each in found:
        for rejected in each.rejected:
            printer.line(("⚠", "yellow"), f" {rejected_sentence(each, rejected)}")
        for check in each.weak_checks:
            place = ".".join(str(part) for part in check.path)
            printer.line(
                ("⚠", "yellow"), f" `{grader_label(each.name)}`, `{place}`: {weak_check_sentence(check)}"
            )


def _print_labelled(path: Path, judged: Sequence[LabelledCaseVerdicts]) -> None:
    printer = Printer()
    for case in judged:
        for sentence in contradictions(case):
            printer.line(("⚠", "yellow"), f" {sentence}")
    for case in judged:
        if sentence := open_sentence(case):
            printer.line((f"· {sentence}", "dim"))
    printer.line(labelled_summary(path, judged))


def _rows(found: Sequence[GraderStrength]) -> Iterator[Sequence[Part]]:
    for each in found:
        tasks = each.tasks[0] if len(each.tasks) == 1 else f"{len(each.tasks)} tasks"
        if each.not_measured:
            yield grader_label(each.name), tasks, ("–", "dim"), (f"not measured: {each.not_measured}", "dim")
        elif each.strength is None:
            yield grader_label(each.name), tasks, ("–", "dim"), (_without_numbers(each), "dim")
        else:
            missed = [kind for kind, (caught, tried) in each.kinds.items() if caught < tried]
            yield grader_label(each.name), tasks, f"{each.strength:.0%}", ", ".join(missed)


def _without_numbers(found: GraderStrength) -> str:
    if not found.passed:
        return "it passes on no recorded trial, so no change can make it fail"
    return "no change of these trials could matter to it"
