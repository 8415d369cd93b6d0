"""A grader moves from its suite into the task files, or from a task file into the suite, with its comments.

What stands in the eval file grades every task. So a move is the same suite where all tasks have the grader
before and after it; where they have not, the title says for which tasks something changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from waza_engine.steps import Steps
from waza_language_server.features.code_actions import CodeAction
from waza_language_server.features.judged_together import bring_nothing
from waza_language_server.features.moving_items import Taken, added, taken
from waza_language_server.project.document import Document
from waza_language_server.project.named_paths import PathsIn
from waza_language_server.project.references import mentions_in
from waza_language_server.project.suite_file import GraderEntry, SuiteFile, task_id, word
from waza_language_server.project.suite_files import SuiteSource
from waza_language_server.project.uris import path_of
from waza_language_server.syntax.author_style import line_break
from waza_language_server.syntax.tried_edits import apply
from waza_language_server.text.edit import Edit
from waza_language_server.text.workspace_edit import FileEdit, WorkspaceEdit

if TYPE_CHECKING:
    from pathlib import Path

    from waza_engine.spec.reading.scalars import Json
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.text.span import Span

MOST_TASKS = 20
"""Tasks of a suite; in a larger one nothing is offered, for every file of it is read and judged twice."""
MOST_CHARACTERS = 200_000
"""Of all of them together."""
MOST_CHOICES = 5
"""Tasks that are offered one by one."""
_KEY = "graders"
_HEAD = ("type", "name")
"""Where in a grader a move is offered: not behind each of its options."""


@dataclass(frozen=True, slots=True)
class _Suite:
    """The files of one suite, read."""

    evaluation: Document
    tasks: tuple[Document, ...]

    @property
    def files(self) -> tuple[Document, ...]:
        return (self.evaluation, *self.tasks)


def moved_grader(document: Document, workspace: Workspace, selected: Span) -> Steps[tuple[CodeAction, ...]]:
    """Return the moves of the grader at whose type or name a selection starts; none without such a grader.

    Nothing is offered where the files would have another problem, where a task belongs to another suite, too,
    or where somebody refers to the grader by the place where it stands.
    """
    grader = _grader_at(document, selected)
    if grader is None or document.kind not in {"eval", "task"}:
        return ()
    suite = yield from _suite_of(document, workspace)
    if suite is None:
        return ()
    held = taken(document, grader.item)
    if held is None or not (yield from _means_the_same(document, workspace, grader)):
        return ()
    if document.kind == "eval":
        wanted = _into_tasks(suite, grader, held)
    else:
        wanted = _into_suite(document, suite, grader, held)
    found: list[CodeAction] = []
    for title, edits in wanted:
        change = yield from _tried(workspace, suite, edits, grader)
        if change is not None:
            found.append(CodeAction(title, "refactor.move", change, ()))
    return tuple(found)


def _grader_at(document: Document, selected: Span) -> GraderEntry | None:
    tree = document.tree
    if tree.root is None or tree.errors or tree.anchored:
        return None
    owner = SuiteFile(tree).owner_of(selected.start)
    if not isinstance(owner, GraderEntry) or owner.task is not None or owner.place != "graders":
        return None
    at_head = any(
        entry.span.contains(selected.start) for entry in owner.node.entries if entry.key.value in _HEAD
    )
    by_place = owner.type == "tool_constraint" or owner.node.get("ref") is not None
    # The tools of an agent file hold unless the suite itself has a constraint; packages are known in eval
    # files alone.
    return owner if at_head and owner.name and not by_place else None


def _suite_of(document: Document, workspace: Workspace) -> Steps[_Suite | None]:
    """Return the one suite of a file with all its tasks; None where they are not all known, and readable."""
    path, project = path_of(document.uri), workspace.project
    suites = project.suites_of(path) if path is not None else ()
    if path is None or len(suites) != 1:
        return None
    (suite,) = suites
    paths = project.task_paths(suite)
    outline = suite.outline
    if not paths.known or outline.inline_tasks or outline.tasks_from or len(paths.value) > MOST_TASKS:
        return None
    files: list[Document] = []
    characters = 0
    for each in (suite.path, *paths.value):
        shared = each != suite.path and len(project.suites_of(each)) != 1
        file = document if each == path else _opened(workspace, each, is_task=each != suite.path)
        if shared or file is None:
            return None
        characters += len(file.text)
        if characters > MOST_CHARACTERS or line_break(file.text) != line_break(document.text):
            return None
        yield from file.read_in_steps()
        root, tree = file.tree.root, file.tree
        if root is None or tree.errors or tree.anchored or root.entry("requirements") is not None:
            # A requirement tells where the grader stands that checks it.
            return None
        files.append(file)
    return _Suite(files[0], tuple(files[1:])) if len(files) > 1 else None


def _opened(workspace: Workspace, path: Path, *, is_task: bool) -> Document | None:
    opened = workspace.project.documents.get(path)
    if opened is not None:
        return opened
    text = workspace.project.text(path)
    if not text.known:
        return None
    uri = SuiteSource.at(workspace.project, path, "task").uri
    return Document(uri, 0, text.value, "task" if is_task else "eval")


def _means_the_same(document: Document, workspace: Workspace, grader: GraderEntry) -> Steps[bool]:
    """Whether no path of a grader starts at the folder of its task, where the suite would not look."""
    file = SuiteSource.of(document)
    suites = {suite.path for suite in workspace.project.suites_of(file.path)} if file.path else set[object]()
    paths = PathsIn(workspace.project, file)
    for each in mentions_in(workspace, file):
        yield
        if each is None or each.kind != "file" or not grader.item.span.contains(each.span.start):
            continue
        named = paths.named(each)
        if named is not None and named.holder is not None and named.holder not in suites:
            return False
    return True


def _into_tasks(suite: _Suite, grader: GraderEntry, held: Taken) -> list[tuple[str, dict[str, Edit]]]:
    name, count = grader.name, len(suite.tasks)
    targets = {task.uri: added(task, _KEY, held.rows) for task in suite.tasks}
    edits = {uri: edit for uri, edit in targets.items() if edit is not None}
    source = {suite.evaluation.uri: held.edit}
    found: list[tuple[str, dict[str, Edit]]] = []
    if len(edits) == count:
        where = f"the task `{_id(suite.tasks[0])}`" if count == 1 else f"each of the {count} tasks"
        found.append((f"Move `{name}` into {where}", source | edits))
    if 1 < count <= MOST_CHOICES:
        naming = [task for task in suite.tasks if _names(task, name)]
        for task in suite.tasks:
            if task.uri in edits and all(each is task for each in naming):
                title = f"Move `{name}` into `{_id(task)}`: {_others(count - 1, 'lose')} it"
                found.append((title, source | {task.uri: edits[task.uri]}))
    return found


def _into_suite(
    document: Document, suite: _Suite, grader: GraderEntry, held: Taken
) -> list[tuple[str, dict[str, Edit]]]:
    name, count = grader.name, len(suite.tasks)
    into = added(suite.evaluation, _KEY, held.rows)
    if into is None:
        return []
    gone = {document.uri: held.edit}
    for task in suite.tasks:
        alike = _alike(task, grader, held) if task.uri != document.uri else None
        gone |= {task.uri: alike.edit} if alike is not None else {}
    target = {suite.evaluation.uri: into}
    if len(gone) == count:
        of_all = f" of all {count} tasks" if count > 1 else ""
        return [(f"Move `{name}`{of_all} into the suite", target | gone)]
    if len(gone) > 1:
        return []
    return [(f"Move `{name}` into the suite: {_others(count - 1, 'get')} it, too", target | gone)]


def _alike(task: Document, grader: GraderEntry, held: Taken) -> Taken | None:
    """Return the grader of another task that is written with the same lines, None without one."""
    for each in SuiteFile(task.tree).own_graders():
        if each.place == "graders" and each.name == grader.name:
            other = taken(task, each.item)
            return other if other is not None and other.rows == held.rows else None
    return None


def _names(task: Document, name: str) -> bool:
    """Whether a task says by name that it expects a grader."""
    named = task.tree.root.get("expected", "graders") if task.tree.root is not None else None
    return named is not None and any(word(item) == name for item in named.target.items)


def _others(count: int, verb: str) -> str:
    return f"the other task {verb}s" if count == 1 else f"the {count} other tasks {verb}"


def _id(task: Document) -> str:
    path = path_of(task.uri)
    return task_id(task.tree.root, path) if path is not None else ""


def _tried(
    workspace: Workspace, suite: _Suite, edits: dict[str, Edit], grader: GraderEntry
) -> Steps[WorkspaceEdit | None]:
    """Return the change, None where a file would say something else than meant, or have another problem."""
    after: list[Document] = []
    for file in suite.files:
        if file.uri not in edits:
            after.append(file)
            continue
        changed = file.replaced(apply(file.text, (edits[file.uri],)), file.version)
        yield from changed.read_in_steps()
        if changed.tree.errors or not _differs_by(file, changed, grader.node.to_python()):
            return None
        after.append(changed)
    if not (yield from bring_nothing(workspace, suite.files, after)):
        return None
    return WorkspaceEdit(
        tuple(FileEdit(file.uri, file.text, (edits[file.uri],)) for file in suite.files if file.uri in edits)
    )


def _differs_by(before: Document, after: Document, grader: Json) -> bool:
    """Whether one of two files has a grader more in its list, and all else is the same."""
    one, other = _said(before), _said(after)
    if one is None or other is None:
        return False
    (rest, graders), (other_rest, others) = one, other
    few, many = sorted((graders, others), key=len)
    return rest == other_rest and len(many) == len(few) + 1 and _without(many, few) == [grader]


def _said(document: Document) -> tuple[dict[str, Json], list[Json]] | None:
    root = document.tree.root
    value = root.to_python() if root is not None else None
    if not isinstance(value, dict):
        return None
    graders = value.get(_KEY)
    if graders is not None and not isinstance(graders, list):
        return None
    return {key: each for key, each in value.items() if key != _KEY}, list(graders or ())


def _without(many: Sequence[Json], few: Sequence[Json]) -> list[Json]:
    """Return what one list has more than another, in which the order is the same."""
    at = next((index for index, each in enumerate(few) if many[index] != each), len(few))
    return [many[at]] if list(many[at + 1 :]) == list(few[at:]) else []
