"""A grader moves from its suite into the tasks, or from a task into the suite, with its comments.

A task has a file of its own or is inline in the eval file. The graders of the suite grade every task. So a
move changes nothing if all tasks have the grader before and after it; otherwise the title says for which
tasks something changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from waza_engine.checkpoint import checkpoint
from waza_language_server.features.actions.code_actions import CodeAction
from waza_language_server.features.actions.moving_items import (
    RemovedItem,
    add_no_problem,
    append_item,
    remove_item,
)
from waza_language_server.project.document import Document
from waza_language_server.project.named_paths import PathsIn
from waza_language_server.project.naming_places import mentions_in
from waza_language_server.project.suite_file import GraderEntry, SuiteFile, TaskEntry, scalar_text, task_id
from waza_language_server.project.suite_files import SuiteSource, document_at
from waza_language_server.project.uris import path_of
from waza_language_server.syntax.author_style import line_break
from waza_language_server.syntax.tried_edits import apply
from waza_language_server.text.edit import Edit
from waza_language_server.text.workspace_edit import FileEdit, WorkspaceEdit

if TYPE_CHECKING:
    from waza_engine.spec.reading.scalars import Json
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.syntax.nodes import Node
    from waza_language_server.text.span import Span

MOST_TASKS = 20
"""In a suite with more tasks nothing is offered: all its files are diagnosed twice."""
MOST_CHARACTERS = 200_000
"""The same for the characters of all its files."""
MOST_CHOICES = 5
"""Up to so many tasks are offered one by one as a target."""
_KEY = "graders"
_HEAD = ("type", "name")
"""The keys of a grader at which a move is offered: not at each of its options."""


@dataclass(frozen=True, slots=True)
class _Task:
    """A task: its mapping, in a file of its own or inline in the eval file."""

    id: str
    file: Document
    node: Node
    inline: TaskEntry | None = None

    @property
    def position(self) -> int | None:
        """The index of an inline task in the list of the eval file."""
        return int(self.inline.item.step or 0) if self.inline is not None else None

    def graders(self) -> Iterator[GraderEntry]:
        file = SuiteFile(self.file.tree)
        found = file.own_graders() if self.inline is None else file.graders_of(self.inline)
        return (grader for grader in found if grader.place == _KEY)


@dataclass(frozen=True, slots=True)
class _Suite:
    """The eval file and the tasks of a suite."""

    evaluation: Document
    tasks: tuple[_Task, ...]

    @property
    def files(self) -> tuple[Document, ...]:
        return (self.evaluation, *(task.file for task in self.tasks if task.inline is None))

    def task_of(self, grader: GraderEntry, document: Document) -> _Task | None:
        """Return the task that has a grader of its own; None for one of the suite."""
        if document.kind == "task":
            return next((task for task in self.tasks if task.file.uri == document.uri), None)
        position = grader.task.item.step if grader.task is not None else None
        return next((task for task in self.tasks if task.inline and task.position == position), None)


@dataclass(frozen=True, slots=True)
class _Change:
    """An edit that adds a grader to the list of a task, or of the suite (``task`` None), or removes it.

    ``more`` is 1 or -1.
    """

    file: Document
    task: int | None
    more: int
    edit: Edit


def moved_grader(document: Document, workspace: Workspace, selected: Span) -> tuple[CodeAction, ...]:
    """Return the moves of the grader at whose type or name a selection starts; none without such a grader.

    Nothing is offered if the files would get a new problem, if a task belongs to another suite, too, or if
    the grader is referred to by its place. It comes last in its new list: its earlier position is unknown,
    and no score depends on the order.
    """
    grader = _grader_at(document, selected)
    if grader is None or document.kind not in {"eval", "task"}:
        return ()
    suite = _suite_of(document, workspace)
    if suite is None:
        return ()
    held = remove_item(document, grader.item)
    if held is None or not _means_the_same(document, workspace, grader):
        return ()
    own = suite.task_of(grader, document)
    wanted = _into_tasks(suite, grader, held) if own is None else _into_suite(own, suite, grader, held)
    found: list[CodeAction] = []
    for title, changes in wanted:
        change = _tried(workspace, suite, changes, grader)
        if change is not None:
            found.append(CodeAction(title, "refactor.move", change, ()))
    return tuple(found)


def _grader_at(document: Document, selected: Span) -> GraderEntry | None:
    tree = document.tree
    if tree.root is None or tree.errors or tree.anchored:
        return None
    owner = SuiteFile(tree).owner_of(selected.start)
    if not isinstance(owner, GraderEntry) or owner.place != _KEY:
        return None
    at_head = any(
        entry.span.contains(selected.start) for entry in owner.node.entries if entry.key.value in _HEAD
    )
    by_place = owner.type == "tool_constraint" or owner.node.get("ref") is not None
    # The tools of an agent file hold unless the suite itself has a constraint; packages are known in eval
    # files alone.
    return owner if at_head and owner.name and not by_place else None


def _suite_of(document: Document, workspace: Workspace) -> _Suite | None:
    """Return the one suite of a file with its tasks; None if there are several, or a task is unreadable."""
    path, project = path_of(document.uri), workspace.project
    suites = project.suites_of(path) if path is not None else ()
    if path is None or len(suites) != 1:
        return None
    (suite,) = suites
    paths = project.task_paths(suite)
    if paths.unknown or suite.outline.tasks_from or len(paths.value) > MOST_TASKS:
        return None
    files: list[Document] = []
    characters = 0
    for each in (suite.path, *paths.value):
        shared = each != suite.path and len(project.suites_of(each)) != 1
        file = (
            document if each == path else document_at(project, each, "eval" if each == suite.path else "task")
        )
        if shared or file is None:
            return None
        characters += len(file.text)
        if characters > MOST_CHARACTERS or line_break(file.text) != line_break(document.text):
            return None
        if file.tree.root is None or file.tree.errors or file.tree.anchored:
            return None
        files.append(file)
    evaluation, *others = files
    tasks = [
        *(_Task(_id(file), file, file.tree.root) for file in others if file.tree.root is not None),
        *(_Task(each.id, evaluation, each.node, each) for each in SuiteFile(evaluation.tree).tasks()),
    ]
    if any(node is None or node.get("requirements") is not None for node in _nodes(evaluation, tasks)):
        # A requirement names the place of the grader that checks it.
        return None
    return _Suite(evaluation, tuple(tasks)) if 0 < len(tasks) <= MOST_TASKS else None


def _nodes(evaluation: Document, tasks: Sequence[_Task]) -> Iterator[Node | None]:
    yield evaluation.tree.root
    yield from (task.node for task in tasks)


def _means_the_same(document: Document, workspace: Workspace, grader: GraderEntry) -> bool:
    """Return whether no path of a grader is relative to the folder of its task, unknown to the suite."""
    file = SuiteSource.of(document)
    suites = {suite.path for suite in workspace.project.suites_of(file.path)} if file.path else set[object]()
    paths = PathsIn(workspace.project, file)
    for each in mentions_in(workspace, file):
        checkpoint()
        if each.kind != "file" or not grader.item.span.contains(each.span.start):
            continue
        named = paths.named(each)
        if named is not None and named.holder is not None and named.holder not in suites:
            return False
    return True


def _into_tasks(suite: _Suite, grader: GraderEntry, held: RemovedItem) -> Iterator[tuple[str, list[_Change]]]:
    name, count = grader.name, len(suite.tasks)
    source = _Change(suite.evaluation, None, -1, held.edit)
    added_to = [
        _Change(task.file, task.position, 1, edit)
        for task in suite.tasks
        if (edit := append_item(task.file, task.node, _KEY, held.rows)) is not None
    ]
    if len(added_to) == count:
        where = f"the task `{suite.tasks[0].id}`" if count == 1 else f"each of the {count} tasks"
        yield f"Move `{name}` into {where}", [source, *added_to]
    if 1 < count <= MOST_CHOICES:
        naming = [task for task in suite.tasks if _names(task, name)]
        for task in suite.tasks:
            target = [each for each in added_to if (each.file, each.task) == (task.file, task.position)]
            if target and all(each is task for each in naming):
                yield f"Move `{name}` into `{task.id}`: {_others(count - 1, 'lose')} it", [source, *target]


def _into_suite(
    own: _Task, suite: _Suite, grader: GraderEntry, held: RemovedItem
) -> Iterator[tuple[str, list[_Change]]]:
    name, count = grader.name, len(suite.tasks)
    root = suite.evaluation.tree.root
    into = append_item(suite.evaluation, root, _KEY, held.rows) if root is not None else None
    if into is None:
        return
    gone = [_Change(own.file, own.position, -1, held.edit)]
    for task in suite.tasks:
        alike = _alike(task, grader, held) if task is not own else None
        gone += [_Change(task.file, task.position, -1, alike.edit)] if alike is not None else []
    changes = [_Change(suite.evaluation, None, 1, into), *gone]
    if len(gone) == count:
        of_all = f" of all {count} tasks" if count > 1 else ""
        yield f"Move `{name}`{of_all} into the suite", changes
    elif len(gone) == 1:
        yield f"Move `{name}` into the suite: {_others(count - 1, 'get')} it, too", changes


def _alike(task: _Task, grader: GraderEntry, held: RemovedItem) -> RemovedItem | None:
    """Return the grader of another task that is written with the same lines, None without one."""
    for each in task.graders():
        if each.name == grader.name:
            other = remove_item(task.file, each.item)
            return other if other is not None and other.rows == held.rows else None
    return None


def _names(task: _Task, name: str) -> bool:
    """Return whether a task says by name that it expects a grader."""
    named = task.node.get("expected", "graders")
    return named is not None and any(scalar_text(item) == name for item in named.target.items)


def _others(count: int, verb: str) -> str:
    return f"the other task {verb}s" if count == 1 else f"the {count} other tasks {verb}"


def _id(task: Document) -> str:
    path = path_of(task.uri)
    return task_id(task.tree.root, path) if path is not None else ""


def _tried(
    workspace: Workspace, suite: _Suite, changes: Sequence[_Change], grader: GraderEntry
) -> WorkspaceEdit | None:
    """Return the change, None if anything but the grader's place would change or a file got a new problem."""
    after: list[Document] = []
    edits: list[FileEdit] = []
    for file in suite.files:
        own = [change for change in changes if change.file is file]
        if not own:
            after.append(file)
            continue
        made = tuple(sorted((change.edit for change in own), key=lambda edit: edit.span))
        if any(one.span.end > other.span.start for one, other in pairwise(made)):
            return None
        changed = file.replaced(apply(file.text, made), file.version)
        lists = {change.task: change.more for change in own}
        if changed.tree.errors or not _differs_by(file, changed, grader.node.to_python(), lists):
            return None
        after.append(changed)
        edits.append(FileEdit(file.uri, file.text, made))
    if not add_no_problem(workspace, suite.files, after):
        return None
    return WorkspaceEdit(tuple(edits))


def _differs_by(before: Document, after: Document, grader: Json, lists: Mapping[int | None, int]) -> bool:
    """Return whether only the given lists of graders have gained or lost the grader."""
    expected, found = _holders(before), _holders(after)
    for place, holder in expected.items():
        graders, more = holder[_KEY], lists.get(place, 0)
        if not isinstance(graders, list) or (more < 0 and grader not in graders):
            return False
        if more < 0:
            graders.remove(grader)
        elif more > 0:
            graders.append(grader)
    return bool(expected) and expected == found


def _holders(document: Document) -> dict[int | None, dict[str, Json]]:
    """Return the values that may have graders: the file (None), and its inline tasks by position."""
    root = document.tree.root
    value = root.to_python() if root is not None else None
    if not isinstance(value, dict):
        return {}
    tasks = value.get("tasks") if document.kind == "eval" else None
    inline = enumerate(tasks if isinstance(tasks, list) else ())
    holders: dict[int | None, dict[str, Json]] = {None: value}
    holders |= {position: task for position, task in inline if isinstance(task, dict)}
    for holder in holders.values():
        holder[_KEY] = holder.get(_KEY) or []
    return holders
