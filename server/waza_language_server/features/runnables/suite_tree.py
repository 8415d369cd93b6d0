"""The tree of a test explorer: suites, tasks, and their graders.

Trigger prompts are siblings of the tasks. One level is read at a time.

Architecture invariant: no results and no run state here; the ids are those of lenses and runs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from waza_engine.checkpoint import checkpoint
from waza_engine.frozen import frozen
from waza_engine.vocabulary import shown_grader
from waza_language_server.features.runnables.runnables import is_off
from waza_language_server.project.document import SUITES
from waza_language_server.project.runnable_id import RunnableId
from waza_language_server.project.suite_file import SuiteFile, word
from waza_language_server.project.suite_files import files_of_workspace, suite_title
from waza_language_server.project.verdict_places import VerdictPlaces

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from waza_language_server.project.index import Project
    from waza_language_server.text.workspace_edit import FilePlace

ItemKind = Literal["suite", "task", "grader", "prompt"]


@frozen()
class TreeItem:
    """One line of the tree.

    ``runs`` is the id of the runnable of the item: its own if it is a runnable, None in a disabled task and
    for a suite with all tasks disabled.
    """

    id: str
    kind: ItemKind
    label: str
    place: FilePlace
    runs: str | None

    @property
    def has_children(self) -> bool:
        """Return whether there may be items below it."""
        return self.kind in ("suite", "task")


def suites(project: Project) -> tuple[TreeItem, ...]:
    """Return the suites in the open folders, by their paths."""
    found: dict[Path, TreeItem] = {}
    for file in files_of_workspace(project):
        checkpoint()
        if file.kind in SUITES and file.path is not None:
            path = file.path
            if not project.text(path).value.strip() or project.disk.stamp(path) is None:
                continue  # it is open, and empty as yet, or not there any more
            label = suite_title(project, path)
            place = VerdictPlaces(project, path).of_suite()
            item = _runnable(RunnableId(path), "suite", label, place)
            found[path] = replace(item, runs=None) if is_off(project, path) else item
    return tuple(found[path] for path in sorted(found))


def children(project: Project, parent: RunnableId) -> tuple[TreeItem, ...]:
    """Return the children of a suite or a task, in the order of a run."""
    places = VerdictPlaces(project, parent.suite)
    if parent.kind == "suite":
        items = _tasks(project, places, parent.suite)
    elif parent.kind == "task" and parent.task is not None:
        items = _graders(places, parent.suite, parent.task)
    else:
        return ()
    found: dict[str, TreeItem] = {}
    for item in items:
        checkpoint()
        found.setdefault(item.id, item)
    return tuple(found.values())


def _tasks(project: Project, places: VerdictPlaces, suite: Path) -> Iterator[TreeItem]:
    inline = [(task.id, word(task.node.get("name"))) for task in SuiteFile(project.tree(suite)).tasks()]
    files = ((task.id, task.outline.name) for task in project.tasks_of(project.suite(suite)).value)
    for task, name in (*inline, *files):
        item = _runnable(RunnableId(suite, task), "task", name or task, places.of_task(task))
        yield replace(item, runs=None) if places.is_switched_off(task) else item
    for prompt, should, place in places.prompts():
        yield _runnable(RunnableId(suite, prompt=prompt, should_trigger=should), "prompt", prompt, place)


def _graders(places: VerdictPlaces, suite: Path, task: str) -> Iterator[TreeItem]:
    off = places.is_switched_off(task)
    for name, by_itself in places.graders_of(task):
        own = RunnableId(suite, task, name)
        runs = own if by_itself else RunnableId(suite, task)
        place = places.of_grader(task, name)
        yield TreeItem(str(own), "grader", shown_grader(name), place, None if off else str(runs))


def _runnable(own: RunnableId, kind: ItemKind, label: str, place: FilePlace) -> TreeItem:
    return TreeItem(str(own), kind, label, place, str(own))
