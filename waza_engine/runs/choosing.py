"""The tasks that a run with some settings would take, found out without an executor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from waza_engine.runs.grading.grader_cache import GraderCache
from waza_engine.runs.loading.suite import Suite, load_suite
from waza_engine.runs.passes.suite_before import Build
from waza_engine.runs.settings.options import given_settings, with_options
from waza_engine.runs.settings.table import RunSettings
from waza_engine.runs.trials.selection import SelectedTask, select
from waza_engine.spec.loading import load_project_config
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.project_config import ProjectConfig


@dataclass(frozen=True, slots=True)
class Choice:
    """A suite as the settings want it, and the tasks of it that they choose. ``build`` made their graders."""

    suite: Suite
    project: ProjectConfig
    tasks: Sequence[SelectedTask]
    build: Build


def chosen(settings: RunSettings) -> Choice:
    """Return the choice of the settings. Raises ``SuiteFileError`` and ``SuiteError``."""
    suite = load_suite(settings.path, given_settings(settings))
    try:
        project, _ = load_project_config(suite.directory)
    except SuiteFileError:
        project = ProjectConfig()
    suite = with_options(suite, settings, project)
    build = GraderCache().create
    if settings.prompts_alone:
        return Choice(suite, project, (), build)
    tasks, _ = select(suite, settings.tasks, settings.graders, settings.tags, build=build)
    return Choice(suite, project, tasks, build)
