"""Graders created from the selection in a recorded trial, as edits of the task or of the suite.

The engine has validated them on the recorded trials; here they get a unique name in the suite, and a place at
the end of the list of graders, in the style of its author.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from waza_engine.checkpoint import checkpoint
from waza_engine.counting import counted
from waza_engine.frozen import frozen
from waza_language_server.analysis.file_rules.grader_names import free_name
from waza_language_server.features.actions.moving_items import add_no_problem, append_item
from waza_language_server.project.suite_file import SuiteFile
from waza_language_server.project.suite_files import document_at, files_of_suite
from waza_language_server.project.verdict_places import VerdictLocations
from waza_language_server.syntax.edits import insert_entry, insert_item
from waza_language_server.syntax.scalar_writing import write_block, write_flow
from waza_language_server.syntax.tried_edits import apply
from waza_language_server.text.workspace_edit import FileEdit, WorkspaceEdit

if TYPE_CHECKING:
    from pathlib import Path

    from waza_language_server.project.document import Document
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.syntax.nodes import Node
    from waza_language_server.text.edit import Edits

_KEY = "graders"


@frozen()
class NewGrader:
    """An edit that adds a grader, with descriptions of its check, its place, and the passing trials."""

    words: str
    where: str
    passes: str
    change: WorkspaceEdit

    @property
    def title(self) -> str:
        """The full title; the new text comes last, since editors cut a long title off."""
        return f"New grader {self.where} ({self.passes}): {self.words}"


def new_graders(
    workspace: Workspace, suite: Path, task: str, graders: Sequence[Mapping[str, Any]]
) -> list[NewGrader]:
    """Return the graders of ``live.graders`` as edits of the task's file, and of the eval file.

    An edit that would cause a problem is left out, as is one of a list that cannot be extended.
    """
    taken = _names(workspace, suite)
    file = VerdictLocations(workspace.project, suite).file_of_task(task)
    found: list[NewGrader] = []
    for grader in graders:
        entry = {
            "type": grader["type"],
            "name": free_name(grader["name"], taken),
            "config": grader["config"],
        }
        for path, own, where, count in (
            (file, task, "in this task", grader["task"]),
            (suite, None, "in the suite", grader["suite"]),
        ):
            if path is None or count is None:
                continue
            change = _change(workspace, suite, path, own, entry)
            if change is not None:
                found.append(NewGrader(grader["words"], where, _passes(count, own), change))
    return found


def _passes(count: Mapping[str, int], task: str | None) -> str:
    rate = f"passes on {count['passed']} of {counted(count['trials'], 'recorded trial')}"
    return rate if task is not None else f"{rate} of {counted(count['tasks'], 'task')}"


def _names(workspace: Workspace, suite: Path) -> Collection[str]:
    project = workspace.project
    found: set[str] = set()
    for file in files_of_suite(project, project.suite(suite)):
        if file.path is not None:
            tree = project.tree(file.path) if file.document is None else file.document.tree
            for entry in SuiteFile(tree).graders():
                found |= {entry.name, entry.recorded_as}
            checkpoint()
    return found


def _change(
    workspace: Workspace, suite: Path, path: Path, task: str | None, entry: Mapping[str, Any]
) -> WorkspaceEdit | None:
    """Return the change that adds an entry to the graders of a task, or of the suite if ``task`` is None."""
    document = document_at(workspace.project, path, "eval" if path == suite else "task")
    if document is None:
        return None
    holder = _holder(document, task)
    if holder is None or document.tree.errors:
        return None
    edits = _edits(document, holder, entry)
    if not edits:
        return None
    after = document.replaced(apply(document.text, edits), document.version)
    if after.tree.errors or not _has_one_more(holder, _holder(after, task), entry):
        return None
    if not add_no_problem(workspace, [document], [after]):
        return None
    return WorkspaceEdit((FileEdit(document.uri, document.text, edits),))


def _holder(document: Document, task: str | None) -> Node | None:
    """Return the mapping that has the list: that of the file, or of an inline task."""
    if task is None or document.kind == "task":
        root = document.tree.root
        return root if root is not None and root.kind == "mapping" else None
    return next((each.node for each in SuiteFile(document.tree).tasks() if each.id == task), None)


def _edits(document: Document, holder: Node, entry: Mapping[str, Any]) -> Edits:
    rows = tuple(write_block([entry], 0, "\n").split("\n"))
    edit = append_item(document, holder, _KEY, rows)
    if edit is not None:
        return (edit,)
    graders = holder.get(_KEY)
    if graders is None:
        return insert_entry(document.tree, holder, _KEY, write_flow([entry]))
    return insert_item(document.tree, graders, write_flow(entry))


def _has_one_more(before: Node, after: Node | None, entry: Mapping[str, Any]) -> bool:
    """Return whether this grader at the end of its list is the only difference of a mapping."""
    one, other = before.to_python(), after.to_python() if after is not None else None
    if not isinstance(one, dict) or not isinstance(other, dict):
        return False
    graders, extended = one.get(_KEY) or [], other.get(_KEY)
    if not isinstance(graders, list):
        return False
    return {**one, _KEY: None} == {**other, _KEY: None} and extended == [*graders, dict(entry)]
