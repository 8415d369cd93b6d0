"""The runnables of a file: the suite, its tasks, graders and trigger prompts, without disabled tasks.

They are read from syntax alone, so the list is the same before, during and after a run, and in a file with
syntax errors.

Architecture invariant: no results and no run state here. Lenses, the Test Explorer, hover and the command
line are projections of this list.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from waza_engine.checkpoint import checkpoint, collect
from waza_engine.frozen import frozen
from waza_engine.vocabulary import grader_label
from waza_language_server.features.rows.row_verdicts import id_of, records
from waza_language_server.project.disk import stamp_of
from waza_language_server.project.document import SUITES
from waza_language_server.project.runnable_id import RunnableId
from waza_language_server.project.suite_file import (
    SuiteFile,
    is_disabled,
    prompts_in,
    scalar_text,
    task_id,
)
from waza_language_server.project.suite_files import files_of_workspace, suite_title
from waza_language_server.project.uris import path_of
from waza_language_server.project.verdict_places import VerdictLocations
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from waza_language_server.project.document import Document
    from waza_language_server.project.index import Project
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.syntax.nodes import Node
    from waza_language_server.text.workspace_edit import FileLocation


MAX_SUITES = 3
"""A task that more suites pick up is offered for the nearest ones."""


MOST_LENSES = 2_000
"""Lines with lenses of their own; longer files have them at the top."""


@frozen()
class Runnable:
    """Something that a click can run.

    ``span`` is the line it belongs to, ``label`` its name for people, ``whole`` all that is written of it.
    """

    id: RunnableId
    span: Span
    label: str
    whole: Span


def runnables(document: Document, workspace: Workspace) -> tuple[Runnable, ...]:
    """Return what can be run from a document, in the order of its text."""
    path = path_of(document.uri)
    root = document.tree.root
    if document.kind == "prompts":
        return tuple(collect(_of_prompts(document, workspace.project)))
    if path is None or root is None or (root.kind != "mapping" and document.kind != "trigger_list"):
        return ()
    entries, whole = SuiteFile(document.tree), Span(0, len(document.text))
    if document.kind in SUITES:
        prompts = _prompts(root, (path,)) if document.kind == "trigger_list" else ()
        found = collect(chain(_tasks(entries, path), _graders(entries, path), prompts))
        return (*_suite(root, path, whole), *sorted(found, key=lambda runnable: runnable.span))
    if document.kind == "task":
        suites = suites_run_from(document, workspace)
        task = task_id(root, path)
        graders = _graders(entries, suites[0], task) if suites else ()
        return (*_whole_task(root, suites, task, whole), *collect(graders))
    if document.kind == "trigger_tests":
        suites = tuple(suite.path for suite in workspace.project.suites_of(path)[:MAX_SUITES])
        return tuple(collect(_prompts(root, suites)))
    return ()


def suites_run_from(document: Document, workspace: Workspace) -> tuple[Path, ...]:
    """Return the eval files of the suites that a document can run, in part if it is a task or prompts."""
    path, root = path_of(document.uri), document.tree.root
    if path is None or root is None or (root.kind != "mapping" and document.kind != "trigger_list"):
        return ()
    if _first_line(root) is None:
        return ()
    if document.kind in SUITES:
        return (path,)
    if document.kind not in {"task", "trigger_tests"} or (document.kind == "task" and is_disabled(root)):
        return ()
    suites = tuple(suite.path for suite in workspace.project.suites_of(path)[:MAX_SUITES])
    if document.kind == "trigger_tests" and next(_prompts(root, suites), None) is None:
        return ()
    return suites


def is_off(project: Project, suite: Path) -> bool:
    """Return whether a suite has tasks and all of them are disabled."""
    some = False
    inline = (task.node for task in SuiteFile(project.tree(suite)).tasks())
    files = (project.tree(path).root for path in project.task_paths(project.suite(suite)).value)
    for task in chain(inline, files):
        checkpoint()
        if task is None or not is_disabled(task):
            return False
        some = True
    return some


def _of_prompts(document: Document, project: Project) -> Iterator[Runnable]:
    """Yield a task for each prompt and suite that names the file; for a long file only the suites."""
    suites = list(suites_asking(document, project))
    listed = list(islice(records(document), MOST_LENSES + 1)) if suites else []
    for suite in suites:
        if len(listed) > MOST_LENSES:
            whole = Span(0, len(document.text))
            yield Runnable(RunnableId(suite), _start(listed[0]), suite.parent.name, whole)
            continue
        for row in listed:
            if name := id_of(row):
                yield Runnable(RunnableId(suite, name), _start(row), name, row.span)


def suites_asking(document: Document, project: Project) -> Iterator[Path]:
    """Yield the eval files that name a file as their prompts."""
    path = path_of(document.uri)
    yield from (suite.path for suite in project.suites_asking(path)) if path is not None else ()


def _prompts(root: Node, suites: Sequence[Path]) -> Iterator[Runnable]:
    seen: set[tuple[str, bool]] = set()
    for prompt in prompts_in(root):
        text, should = prompt.text, prompt.should_trigger
        if text and not prompt.is_bare and (text, should) not in seen:
            seen.add((text, should))
            for suite in suites:
                target = RunnableId(suite, prompt=text, should_trigger=should)
                yield Runnable(target, _start(prompt.item), text, prompt.item.span)


def _suite(root: Node, path: Path, whole: Span) -> Iterator[Runnable]:
    start = _first_line(root)
    if start is not None:
        label = (
            scalar_text(root.get("name"))
            or scalar_text(root.get("skill_name"))
            or path.parent.name
            or path.name
        )
        yield Runnable(RunnableId(path), start, label, whole)


def _tasks(entries: SuiteFile, path: Path) -> Iterator[Runnable]:
    for task in entries.tasks():
        if not is_disabled(task.node):
            yield Runnable(RunnableId(path, task.id), _start(task.item), task.id, task.item.span)


def _whole_task(root: Node, suites: Sequence[Path], task: str, whole: Span) -> Iterator[Runnable]:
    start = _first_line(root)
    label = scalar_text(root.get("name")) or task
    for suite in suites:
        if start is not None:
            yield Runnable(RunnableId(suite, task), start, label, whole)


def _graders(entries: SuiteFile, suite: Path, own_task: str | None = None) -> Iterator[Runnable]:
    """Yield the graders of the file and of its tasks."""
    tasks = (task for task in entries.tasks() if not is_disabled(task.node))
    for graders in chain((entries.own_graders(),), map(entries.graders_of, tasks)):
        for grader in graders:
            task = grader.task.id if grader.task is not None else own_task
            if grader.has_results and grader.place != "constraint":
                target = RunnableId(suite, task, grader.name)
                yield Runnable(target, _start(grader.item), grader.name, grader.item.span)
        checkpoint()


def _first_line(root: Node) -> Span | None:
    entry = next(root.each_entry(), None)
    if entry is None and root.items:
        # A trigger list begins with its bracket.
        return Span(root.span.start, root.span.start)
    return entry.key.span if entry is not None else None


def _start(item: Node) -> Span:
    key = item.at(item.span.start)
    return key.span if key.kind == "scalar" else Span(item.span.start, item.span.start)


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
    place: FileLocation
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
            if not project.text(path).value.strip() or stamp_of(path) is None:
                continue  # it is open, and empty as yet, or not there any more
            label = suite_title(project, path)
            place = VerdictLocations(project, path).of_suite()
            item = _runnable(RunnableId(path), "suite", label, place)
            found[path] = replace(item, runs=None) if is_off(project, path) else item
    return tuple(found[path] for path in sorted(found))


def children(project: Project, parent: RunnableId) -> tuple[TreeItem, ...]:
    """Return the children of a suite or a task, in the order of a run."""
    places = VerdictLocations(project, parent.suite)
    if parent.kind == "suite":
        items = _task_items(project, places, parent.suite)
    elif parent.kind == "task" and parent.task is not None:
        items = _grader_items(places, parent.suite, parent.task)
    else:
        return ()
    found: dict[str, TreeItem] = {}
    for item in items:
        checkpoint()
        found.setdefault(item.id, item)
    return tuple(found.values())


def _task_items(project: Project, places: VerdictLocations, suite: Path) -> Iterator[TreeItem]:
    inline = [
        (task.id, scalar_text(task.node.get("name"))) for task in SuiteFile(project.tree(suite)).tasks()
    ]
    files = ((task.id, task.outline.name) for task in project.tasks_of(project.suite(suite)).value)
    for task, name in (*inline, *files):
        item = _runnable(RunnableId(suite, task), "task", name or task, places.of_task(task))
        yield replace(item, runs=None) if places.is_disabled(task) else item
    for prompt, should, place in places.prompts():
        yield _runnable(RunnableId(suite, prompt=prompt, should_trigger=should), "prompt", prompt, place)


def _grader_items(places: VerdictLocations, suite: Path, task: str) -> Iterator[TreeItem]:
    off = places.is_disabled(task)
    for name, by_itself in places.graders_of(task):
        own = RunnableId(suite, task, name)
        runs = own if by_itself else RunnableId(suite, task)
        place = places.of_grader(task, name)
        yield TreeItem(str(own), "grader", grader_label(name), place, None if off else str(runs))


def _runnable(own: RunnableId, kind: ItemKind, label: str, place: FileLocation) -> TreeItem:
    return TreeItem(str(own), kind, label, place, str(own))
