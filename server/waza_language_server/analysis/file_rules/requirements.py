"""Checks of requirements with a turn where there is none."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import FileView, Found
from waza_language_server.project.suite_file import task_nodes, word
from waza_language_server.syntax.edits import delete_entry
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.edit import Fix


def requirements(view: FileView) -> Found:
    """Yield the `after_turn` of checks that refer to a grader of the suite or the task."""
    for task in task_nodes(view.tree, view.kind):
        for check in checks_of(task):
            yield None
            entry, scope = check.entry("after_turn"), word(check.get("scope"))
            if entry is not None and scope in ("eval", "task"):
                message = f"`after_turn` is for the scope `checkpoint`; graders of `{scope}` have no turn."
                fixes = (Fix("Delete `after_turn`", partial(delete_entry, view.tree, entry)),)
                yield Problem("key-without-effect", entry.key.span, message, "warning", fixes)


def checks_of(task: Node) -> Iterator[Node]:
    """Yield the checks of a task's requirements."""
    listed = task.get("requirements")
    for requirement in listed.target.each_item() if listed is not None else ():
        checks = requirement.target.get("checks")
        for check in checks.target.each_item() if checks is not None else ():
            yield check.target
