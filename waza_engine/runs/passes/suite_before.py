"""A suite as of an earlier time, to find out which of its tasks have changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from waza_engine.graders.base import Grader
from waza_engine.results.freshness import deciding_values
from waza_engine.runs.loading.suite import Suite, SuiteError, load_suite
from waza_engine.runs.settings.options import given_settings, with_options
from waza_engine.runs.settings.table import RunSettings
from waza_engine.runs.trials.selection import SelectedTask, select
from waza_engine.spec.grader_entry import GraderEntry
from waza_engine.spec.loading import load_project_config
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.project_config import ProjectConfig
from waza_engine.spec.reading.suite_files import SuiteFiles

if TYPE_CHECKING:
    from waza_engine.runs.loading.suite import SuiteTask
    from waza_engine.runs.trials.trial import TrialTask

Build = Callable[[GraderEntry], Grader[Any]]


@dataclass(frozen=True, slots=True)
class SuiteBefore:
    """The earlier definition of a suite and of its tasks by file and id, as far as it decides verdicts."""

    suite: Mapping[str, Any]
    tasks: Mapping[tuple[Path, str], object]

    def of(self, task: SelectedTask) -> object:
        """Return the earlier definition of a task, None if it did not exist."""
        return self.tasks.get((task.source.path, task.source.id))


def suite_before(settings: RunSettings, files: SuiteFiles, build: Build) -> SuiteBefore | None:
    """Return the suite from ``files``, with the options of a run; None when it cannot be read.

    ``build`` is as for ``select``.
    """
    try:
        suite = load_suite(settings.path, given_settings(settings), files=files)
        project = _project(suite.directory, files)
        suite = with_options(suite, settings, project)
        tasks, _ = select(suite, (), settings.graders, build=build, files=files)
    except (SuiteFileError, SuiteError):
        return None
    known = {(task.source.path, task.source.id): said_of(task, suite, project) for task in tasks}
    return SuiteBefore(suite_key(suite), known)


def said_of(task: SelectedTask, suite: Suite, project: ProjectConfig) -> object:
    """Return the parts of a suite that decide a task's verdicts, or the error of a broken task."""
    if task.trial is None:
        return task.source.error
    return task_key(task.source, task.trial, suite, float(project.graders.program_timeout))


def _project(directory: Path, files: SuiteFiles) -> ProjectConfig:
    try:
        return load_project_config(directory, files=files)[0]
    except SuiteFileError:
        return ProjectConfig()


def task_key(
    source: SuiteTask, task: TrialTask, suite: Suite, program_timeout_seconds: float
) -> dict[str, Any]:
    """Return it as JSON: equal for two suites that cannot make a difference to the task.

    ``suite`` is as the options of a run want it, and ``task`` has the graders that the run takes.
    """
    return {
        "directory": str(suite.directory),
        "suite": suite_key(suite),
        "task": task.spec.model_dump(mode="json"),
        "task_id": source.id,
        "task_name": source.name,
        "graders": [[built.name, built.entry.model_dump(mode="json")] for built in task.graders],
        "expected": [task.grade_expected, list(task.expected_names)],
        "program_timeout": program_timeout_seconds,
    }


def suite_key(suite: Suite) -> dict[str, Any]:
    """Return the suite's definition, without its tasks and settings that decide no answer."""
    return deciding_values(suite.spec.model_dump(mode="json", exclude={"tasks", "graders", "metrics"}))
