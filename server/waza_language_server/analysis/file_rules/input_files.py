"""Files of a task that lead out of its workspace: no run can put them there."""

from __future__ import annotations

from collections.abc import Iterator

from waza_engine.files import shown
from waza_engine.later_patterns import compiled_later
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import FileView, Found
from waza_language_server.syntax.nodes import Node

_OUTSIDE = compiled_later(r"[/\\]|[A-Za-z]:|(?:.*[/\\])?\.\.(?:[/\\]|\Z)")


def input_files(view: FileView) -> Found:
    """Yield the paths of ``inputs.files`` that are absolute or lead up."""
    root = view.tree.root
    if root is None or view.kind not in {"task", "eval"}:
        return
    tasks = root.get("tasks") if view.kind == "eval" else None
    for task in (root,) if view.kind == "task" else tasks.target.each_item() if tasks is not None else ():
        yield None
        files = task.get("inputs", "files")
        for item in files.target.each_item() if files is not None else ():
            yield from _of_file(item.target)


def _of_file(item: Node) -> Iterator[Problem]:
    node = item.get("path") if item.kind == "mapping" else item
    if node is None or node.target.kind != "scalar" or not _OUTSIDE.match(node.target.value):
        return
    message = (
        f"`{shown(node.target.value)}` does not lie in the workspace; "
        "write a relative path without `..`, or no run of the task begins."
    )
    yield Problem("outside-workspace", node.target.span, message, "error")
