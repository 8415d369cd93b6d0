"""The values that decide the scores of suites and of their files as they are written now, open or on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint
from waza_language_server.project.document import reader_of
from waza_language_server.project.recorded_values import SUITE, Values, current_values, values

if TYPE_CHECKING:
    from pathlib import Path

    from waza_language_server.project.index import Project

_PURPOSE = "recorded values"


def entries(project: Project, suite: Path) -> Values:
    """Return what decides the scores of a suite as it is written now, by task and name."""
    found = dict(values_of_file(project, suite))
    found.pop(("", SUITE), None)
    for known in project.suites_of(suite):
        if known.path == suite:
            for task in project.tasks_of(known).value:
                values = values_of_file(project, task.path)
                found |= {(task.id, name): value for (place, name), value in values.items() if not place}
                checkpoint()
            for prompts in known.prompts:
                found |= values_of_file(project, prompts)
    return found


def values_of_file(project: Project, path: Path) -> Values:
    """Return what decides the scores of one suite file as it is written now."""
    document = project.documents.get(path)
    if document is not None:
        return current_values(document.tree)
    return project.disk.derived(path, _PURPOSE, lambda text: values(reader_of(path)(text.value, None)))
