"""Graders under `expected`, where upstream does not look for them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from waza_engine.checkpoint import checkpoint
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import FileView, Found
from waza_language_server.syntax.edits import delete_entry, move_entry_up
from waza_language_server.syntax.item_memo import items_where
from waza_language_server.syntax.joined_lists import items_added
from waza_language_server.syntax.nodes import Entry, Node
from waza_language_server.syntax.tree import Tree
from waza_language_server.text.edit import Edits, Fix


def expected_graders(view: FileView) -> Found:
    """Yield the lists of complete graders under `expected`; bare names there are notes for readers."""
    root = view.tree.root
    if root is None or view.kind not in {"task", "eval"}:
        return
    if view.kind == "task":
        yield from _of_task(view.tree, root)
        return
    tasks = root.get("tasks")
    if tasks is not None:
        for task in items_where(tasks, _expects_graders):
            checkpoint()
            yield from _of_task(view.tree, task)


def _expects_graders(task: Node) -> bool:
    return task.get("expected", "graders") is not None


def _of_task(tree: Tree, task: Node) -> Iterator[Problem]:
    expected = task.get("expected")
    entry = expected.entry("graders") if expected is not None else None
    if entry is None or not any(item.target.kind == "mapping" for item in entry.value.items):
        return
    place = "at the top of the file" if task.parent is None else "beside `expected`"
    message = f"`graders` belongs {place}, not under `expected`, where upstream ignores it."
    title = "Move to the top of the file" if task.parent is None else "Move beside `expected`"
    fixes: tuple[Fix, ...] = ()
    own = task.entry("graders")
    if own is None:
        fixes = (Fix(title, partial(move_entry_up, tree, entry, task)),)
    else:
        where = "of the file" if task.parent is None else "beside `expected`"
        fixes = (Fix(f"Move to the graders {where}", partial(_joined, tree, own, entry)),)
    yield Problem("misplaced-key", entry.key.span, message, "warning", fixes)


def _joined(tree: Tree, own: Entry, entry: Entry) -> Edits:
    """Return the edits that move graders after those that the task already has."""
    more = items_added(tree.text, own, entry)
    gone = delete_entry(tree, entry)
    return (more, *gone) if more is not None and gone else ()
