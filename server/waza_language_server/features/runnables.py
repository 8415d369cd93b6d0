"""What can be run from a file: the suite, a task, one grader.

Read from syntax alone, so the list is the same before, during and after a run and while the file does not
parse.

Architecture invariant: no results and no run state here. Lenses, the Test Explorer, hover and the command
line are projections of this list.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from waza_language_server.project.runnable_id import RunnableId
from waza_language_server.project.uris import path_of
from waza_language_server.syntax.steps import Steps, finished, in_steps
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from waza_language_server.project.document import Document
    from waza_language_server.project.workspace import Workspace
    from waza_language_server.syntax.nodes import Node

MAX_SUITES = 3
"""A task that more suites pick up is offered for the nearest ones."""


@dataclass(frozen=True, slots=True)
class Runnable:
    """Something that a click can run. ``span`` is the line it belongs to, ``label`` its name for people."""

    id: RunnableId
    span: Span
    label: str


def runnables(document: Document, workspace: Workspace) -> tuple[Runnable, ...]:
    """Return what can be run from a document, in the order of its text."""
    return finished(runnables_in_steps(document, workspace))


def runnables_in_steps(document: Document, workspace: Workspace) -> Steps[tuple[Runnable, ...]]:
    """Do the same with many pauses."""
    path = path_of(document.uri)
    root = document.tree.root
    if path is None or root is None or root.kind != "mapping":
        return ()
    if document.kind == "eval":
        inside = chain(_graders(root.get("graders"), path, None), _inline_tasks(root, path))
        found = yield from in_steps(inside)
        return (*_suite(root, path), *sorted(found, key=lambda runnable: runnable.span))
    if document.kind == "task":
        suites = [suite.path for suite in workspace.project.suites_of(path)[:MAX_SUITES]]
        return tuple((yield from in_steps(_of_task(root, path, suites))))
    return ()


def _suite(root: Node, path: Path) -> Iterator[Runnable]:
    start = _first_line(root)
    if start is not None:
        label = _word(root.get("name")) or path.parent.name or path.name
        yield Runnable(RunnableId(path), start, label)


def _inline_tasks(root: Node, path: Path) -> Iterator[Runnable]:
    for item in _items(root.get("tasks")):
        task = _word(item.get("id"))
        if task is not None:
            yield Runnable(RunnableId(path, task), _start(item), task)
            yield from _graders(item.get("graders"), path, task)


def _of_task(root: Node, path: Path, suites: Sequence[Path]) -> Iterator[Runnable]:
    task = _word(root.get("id")) or path.stem
    label = _word(root.get("name")) or task
    start = _first_line(root)
    for suite in suites:
        if start is not None:
            yield Runnable(RunnableId(suite, task), start, label)
    for suite in suites[:1]:
        yield from _graders(root.get("graders"), suite, task)
        yield from _graders(root.get("expected", "graders"), suite, task)


def _graders(node: Node | None, suite: Path, task: str | None) -> Iterator[Runnable]:
    """Yield the graders of a list. One without a name has no key in the results and cannot be asked for."""
    for item in _items(node):
        name = _word(item.get("name"))
        if name is not None:
            yield Runnable(RunnableId(suite, task, name), _start(item), name)


def _items(node: Node | None) -> Iterator[Node]:
    for item in node.target.each_item() if node is not None else ():
        if item.kind == "mapping":
            yield item


def _first_line(root: Node) -> Span | None:
    entry = next(root.each_entry(), None)
    return entry.key.span if entry is not None else None


def _start(item: Node) -> Span:
    key = item.at(item.span.start)
    return key.span if key.kind == "scalar" else Span(item.span.start, item.span.start)


def _word(node: Node | None) -> str | None:
    if node is None:
        return None
    node = node.target
    return node.value.strip() or None if node.kind == "scalar" else None
