"""Write the long strings of a run next to its result file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from waza_engine.boundary import Boundary
from waza_engine.files import copy_file, names_in
from waza_engine.masking import masked
from waza_engine.results.attachments import attachment_directory, mark_of, without_long_texts
from waza_engine.results.places import boundary_beside
from waza_engine.results.record import RunOutcome, TaskOutcome
from waza_engine.results.writing.store import clear_errors, write_new

ValueT = TypeVar("ValueT")


class Attachments:
    """The long strings of one result file. Equal strings share a file."""

    def __init__(self, results: Path, *, within: Boundary | None = None) -> None:
        """``within`` is the boundary of results whose path was not given by a person."""
        self._within = within
        self._directory = attachment_directory(results)
        self._marks: dict[str, str] = {}
        # By task id, True if a task that was looked at has any: most have none.
        self._has_any: dict[str, bool] = {}

    def of_task(self, task: TaskOutcome) -> TaskOutcome:
        """Return a task with marks for its long strings, which are stored now. Raises ``ResultsError``."""
        found = without_long_texts(task, self._kept)
        self._has_any[task.id] = self._has_any.get(task.id, False) or found is not task
        return found

    def of_run(self, run: RunOutcome) -> RunOutcome:
        """Return a run with marks for the long strings of its tasks. Raises ``ResultsError``."""
        baseline = None if run.baseline is None else self.of_run(run.baseline)
        tasks = tuple(map(self._of_task_again, run.tasks))
        return replace(run, tasks=tasks, triggers=self.of(run.triggers), baseline=baseline)

    def of(self, value: ValueT) -> ValueT:
        """Return any value with marks for its long strings, which are stored now. Raises ``ResultsError``."""
        return without_long_texts(value, self._kept)

    def _of_task_again(self, task: TaskOutcome) -> TaskOutcome:
        return self.of_task(task) if self._has_any.get(task.id, True) else task

    def _kept(self, text: str) -> str:
        if text not in self._marks:
            shown = masked(text)
            name, mark = mark_of(shown)
            write_new(self._directory / name, shown.encode("utf-8", "replace"), within=self._within)
            self._marks[text] = mark
        return self._marks[text]


def copy_attachments(results: Path, copy: Path) -> None:
    """Copy the long strings of a result file to its copy. Raises ``ResultsError``."""
    source, target = attachment_directory(results), attachment_directory(copy)
    if source.is_dir() and source.resolve() != target.resolve():
        with clear_errors(target):
            target.mkdir(parents=True, exist_ok=True)
            within = boundary_beside(results)
            for name in names_in(source, within=within):
                if name.endswith(".txt"):
                    copy_file(source / name, target / name, within=within)
