"""Move a task file into the eval file that lists it, or an inline task to a file, with comments."""

from __future__ import annotations

from itertools import takewhile
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from waza_engine.frozen import frozen
from waza_engine.later_patterns import compiled_later
from waza_engine.spec.reading.task_globs import GlobError, is_literal, split_pattern
from waza_language_server.features.actions.code_actions import CodeAction
from waza_language_server.features.actions.moving_items import (
    RemovedItem,
    add_no_problem,
    dash_of,
    indented_rows,
    last_row,
    remove_item,
)
from waza_language_server.project.document import Document
from waza_language_server.project.outline import pattern_of
from waza_language_server.project.suite_file import SuiteFile, TaskEntry, scalar_text
from waza_language_server.project.suite_files import SuiteSource
from waza_language_server.project.suites import Suite, paths_of_pattern, picks_up
from waza_language_server.project.uris import path_of, uri_of
from waza_language_server.syntax.author_style import line_break
from waza_language_server.syntax.edits import delete_item
from waza_language_server.syntax.scalar_writing import plain_or_quoted
from waza_language_server.syntax.tree import parse
from waza_language_server.syntax.tried_edits import apply
from waza_language_server.text.edit import Edit, Edits, FileCreation
from waza_language_server.text.span import Span
from waza_language_server.text.workspace_edit import (
    FileDeletion,
    FileEdit,
    WorkspaceEdit,
    is_file_name,
)

if TYPE_CHECKING:
    from pathlib import Path

    from waza_language_server.project.document import Document
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.syntax.nodes import Node


_SCHEMA = compiled_later(r"#\s*yaml-language-server:")
MOST_CHARACTERS = 200_000
"""Characters of both files; with more nothing is offered, since the eval file is diagnosed again."""


@frozen()
class _Named:
    """A task file, and the list item that names only this file."""

    item: Node
    file: Document


def inline_task(document: Document, workspace: Workspace, selected: Span) -> CodeAction | None:
    """Return the change that moves the task file named at a selection into the eval file, None without one.

    None also if the task would not be the same there, if something else names the file, or if the eval file
    would get a new problem.
    """
    named = _named(document, workspace, selected)
    if named is None or document.tree.root is None or named.file.tree.root is None:
        return None
    edit = _moved_right(document, named)
    changed = document.replaced(apply(document.text, (edit,)), document.version)
    tasks = changed.tree.root.get("tasks") if changed.tree.root is not None else None
    moved = tasks.items[int(named.item.step or 0)] if tasks is not None else None
    if changed.tree.errors or moved is None or moved.to_python() != named.file.tree.root.to_python():
        return None
    if not add_no_problem(workspace, (document, named.file), (changed,)):
        return None
    change = WorkspaceEdit(
        (FileEdit(document.uri, document.text, (edit,)),), deletions=(FileDeletion(named.file.uri),)
    )
    return CodeAction(f"Move {pattern_of(named.item)} into this file", "refactor.inline", change, ())


def _named(document: Document, workspace: Workspace, selected: Span) -> _Named | None:
    path, tree = path_of(document.uri), document.tree
    if document.kind != "eval" or path is None or tree.root is None or tree.errors or tree.anchored:
        return None
    item = tree.root.at(selected.start)
    above = item.parent
    if item.kind != "scalar" or above is None or above.path != ("tasks",) or above.style != "block":
        return None
    line = document.lines.line_span(document.lines.line_of(item.span.end))
    if document.text[item.span.end : line.end].strip() or not _is_name(pattern_of(item)):
        return None
    found = workspace.project.matching_tasks(document, pattern_of(item)).value
    if len(found) != 1 or not _is_named_once(workspace, path, found[0]):
        return None
    text = workspace.project.text(found[0])
    if not text.known or len(text.value) + len(document.text) > MOST_CHARACTERS:
        return None
    opened = workspace.project.documents.get(found[0])
    uri = SuiteSource.at(workspace.project, found[0], "task").uri
    file = opened or Document(uri, 0, text.value, "task")
    return _Named(item, file) if _can_move(document, file) else None


def _is_name(pattern: str) -> bool:
    try:
        return bool(pattern) and all(is_literal(each) for each in split_pattern(pattern))
    except GlobError:
        return False


def _is_named_once(workspace: Workspace, path: Path, file: Path) -> bool:
    suites = workspace.project.suites_of(file)
    if len(suites) != 1 or suites[0].path != path:
        return False
    disk = workspace.project.disk
    found = (paths_of_pattern(disk, path.parent, each).value for each in suites[0].outline.patterns)
    return sum(file in paths for paths in found) == 1


def _can_move(document: Document, file: Document) -> bool:
    root, tree = file.tree.root, file.tree
    if root is None or root.kind != "mapping" or root.style != "block" or tree.errors or tree.anchored:
        return False
    # Only comments can be above a dash.
    above = file.text[: root.span.start].splitlines()
    starts = (
        all(not row.strip() or row.startswith("#") for row in above)
        and scalar_text(root.get("id")) is not None
    )
    same = not file.text.strip() or line_break(file.text) == line_break(document.text)
    return starts and same and root.get("inputs", "prompt_file") is None


def _moved_right(document: Document, named: _Named) -> Edit:
    """Return the edit that writes a task after its dash, and the comments above the task above the dash.

    The comment with the schema of the file is left out.
    """
    line = document.lines.line_span(document.lines.line_of(named.item.span.start))
    before = document.text[line.start : named.item.span.start]
    ending = line_break(document.text)
    root = named.file.tree.root
    start = root.span.start if root is not None else 0
    above = [row for row in named.file.text[:start].split(ending)[:-1] if not _SCHEMA.match(row)]
    first, *others = named.file.text[start:].rstrip("\r\n").split(ending)
    rows = [*indented_rows(above, before.index("-")), before + first, *indented_rows(others, len(before))]
    return Edit(Span(line.start, named.item.span.end), ending.join(rows))


_FOLDER = "tasks"


def extract_task(document: Document, workspace: Workspace, selected: Span) -> CodeAction | None:
    """Return the change that moves the first selected inline task to a new file, None without one.

    None also if the task would not be the same there (anchors in the file; a ``prompt_file``, which is
    relative to the folder of its task), or if its id cannot be a file name.
    """
    path, tree = path_of(document.uri), document.tree
    task = _task_in(document, selected)
    if task is None or path is None or tree.anchored or tree.errors or not is_file_name(task.id):
        return None
    suite = workspace.project.suite(path)
    written = _new_path(suite, task.id)
    new = path.parent / written
    if new.name in workspace.project.names(new.parent):
        return None
    span = _lines_of(document, task)
    text = _moved_left(document.text, span, task)
    edits: Edits = (Edit(span, plain_or_quoted(written)),)
    if picks_up(suite, new):
        # A glob picks the new file up, so the entry is removed with the comments above it.
        lines = remove_item(document, task.item)
        edits = (lines.edit,) if lines is not None else delete_item(tree, task.item)
        text = _with_comments(text, lines) if lines is not None else text
    fresh = parse(text)
    if fresh.root is None or fresh.errors or fresh.root.to_python() != task.node.to_python():
        return None
    after = parse(apply(document.text, edits))
    if not edits or after.errors:
        return None
    change = WorkspaceEdit(
        (FileEdit(document.uri, document.text, edits),), (FileCreation(uri_of(new), text),)
    )
    return CodeAction(f"Move the task to {written}", "refactor.extract", change, ())


def _task_in(document: Document, selected: Span) -> TaskEntry | None:
    if document.kind != "eval":
        return None
    tasks = ((task, task.item.span) for task in SuiteFile(document.tree).tasks(selected))
    touched = (task for task, span in tasks if span.start <= selected.end and selected.start <= span.end)
    found = next(touched, None)
    above = found.item.parent if found is not None else None
    if found is None or above is None or above.style == "flow" or found.node.style == "flow":
        return None
    has_prompt_file = found.node.get("inputs", "prompt_file") is not None
    return None if has_prompt_file or scalar_text(found.node.get("id")) is None else found


def _new_path(suite: Suite, task: str) -> str:
    """Return the path of the new file: in a folder of the suite's globs, or else ``tasks/``."""
    for pattern in suite.outline.patterns:
        place = PurePosixPath(pattern)
        for suffix in (".yaml", ".yml"):
            written = str(place.with_name(f"{task}{suffix}"))
            if picks_up(suite, suite.folder / written):
                return written
    return f"{_FOLDER}/{task}.yaml"


def _lines_of(document: Document, task: TaskEntry) -> Span:
    """Return the task with the comment after its last line and those below it, deeper than its dash."""
    lines, start = document.lines, task.item.span.start
    dash = dash_of(document, task.item)
    column = lines.position(start if dash is None else dash, "utf-32")[1] - (dash is None)
    return Span(start, lines.line_span(last_row(document, task.item, column)).end)


def _moved_left(text: str, span: Span, task: TaskEntry) -> str:
    """Return the lines of a task, moved to the left margin."""
    start = max(text.rfind("\n", 0, span.start), text.rfind("\r", 0, span.start)) + 1
    column = task.item.span.start - start
    ending = line_break(text)
    first, *others = text[span.start : span.end].split(ending)
    return ending.join([first, *(line[:column].lstrip(" ") + line[column:] for line in others), ""])


def _with_comments(text: str, lines: RemovedItem) -> str:
    """Return the text of a task with the comments above it, which are at the left margin."""
    return line_break(text).join([*takewhile(lambda row: row.startswith("#"), lines.rows), text])
