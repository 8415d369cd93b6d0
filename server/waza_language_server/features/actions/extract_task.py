"""An inline task moves to a file of its own, with its comments."""

from __future__ import annotations

from itertools import takewhile
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from waza_language_server.features.actions.code_actions import CodeAction
from waza_language_server.features.actions.moving_items import RemovedItem, dash_of, last_row, remove_item
from waza_language_server.project.suite_file import SuiteFile, TaskEntry, scalar_text
from waza_language_server.project.suites import Suite, picks_up
from waza_language_server.project.uris import path_of, uri_of
from waza_language_server.syntax.author_style import line_break
from waza_language_server.syntax.edits import delete_item
from waza_language_server.syntax.tree import parse
from waza_language_server.syntax.tried_edits import apply
from waza_language_server.text.edit import Edit, Edits, FileCreation
from waza_language_server.text.scalar_writing import plain_or_quoted
from waza_language_server.text.span import Span
from waza_language_server.text.workspace_edit import FileEdit, WorkspaceEdit, is_file_name

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.project.workspace import Workspace

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
