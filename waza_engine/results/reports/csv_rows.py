"""Result documents as CSV: a row for each verdict of a grader on a trial."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator

from waza_engine.results.codec.run_documents import run_of
from waza_engine.results.conclusion import conclude
from waza_engine.results.json_values import Block
from waza_engine.results.record import verdicts_of
from waza_engine.terminal import visible_lines

_COLUMNS = (
    *("suite", "skill", "executor", "model", "started", "task", "name", "verdict", "trial", "trial_status"),
    *("duration_ms", "grader", "type", "status", "passed", "score", "weight", "feedback"),
)
# A spreadsheet takes a cell that begins with one of these as a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_report(documents: Iterable[Block], fail_under: float | None = None) -> str:
    """Return the rows below their headings; a trial without verdicts, and a task without trials, is one row.

    Scores are 0..1, times are ISO 8601 in UTC.
    """
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for document in documents:
        writer.writerows([_cell(value) for value in row] for row in _rows(document, fail_under))
    return written.getvalue()


def _rows(document: Block, fail_under: float | None) -> Iterator[tuple[object, ...]]:
    run = run_of(document)
    header = run.header
    about_run = (
        header.eval_name,
        header.skill,
        header.executor,
        header.asked_model,
        header.started.isoformat(),
    )
    for task in conclude(run, fail_under=fail_under).tasks:
        about_task = (*about_run, task.id, task.name, task.verdict)
        if not task.task.trials:
            yield (*about_task, *[""] * 9, task.reason)
        for trial in task.task.trials:
            about_trial = (*about_task, trial.number, trial.status, trial.duration_ms)
            verdicts = list(verdicts_of(trial))
            if not verdicts:
                yield (*about_trial, *[""] * 6, trial.error)
            for name, verdict in verdicts:
                yield (
                    *about_trial,
                    *(
                        name,
                        verdict.type,
                        verdict.shown_status,
                        verdict.passed,
                        verdict.score,
                        verdict.weight,
                    ),
                    verdict.feedback,
                )


def _cell(value: object) -> object:
    if not isinstance(value, str):
        return value
    text = visible_lines(value)
    return f"'{text}" if text.startswith(_FORMULA) else text
