"""Outline of one suite file, read from its tree: names, globs, graders, models, tools.

Read tolerantly: a value of the wrong type is skipped, a half-typed file yields what it has. ``complete`` is
false if the file has syntax errors, so that a missing name proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from math import isfinite
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from waza_engine.checkpoint import checkpoint, collect
from waza_engine.frozen import frozen
from waza_language_server.project.suite_file import GraderEntry, SuiteFile, scalar_text
from waza_language_server.syntax.nodes import Node, value_at
from waza_language_server.syntax.tree import Tree

if TYPE_CHECKING:
    from waza_language_server.project.document import Document


@frozen()
class GraderOutline:
    """One grader entry. Both words may be empty while it is being written.

    ``task`` is the id of the task that is written inline around it, None for one of the file itself.
    ``has_results`` says whether results are found by its name. ``weight`` is its weight in a weighted score,
    None if unknown.
    """

    name: str
    type: str
    task: str | None = None
    has_results: bool = True
    weight: float | None = 1.0


@frozen()
class Outline:
    """The outline of a file, in its order; ``models`` and ``tools`` have no duplicates.

    ``id``, ``name`` and ``skill`` are None when the file does not say. ``patterns`` are the globs of
    ``tasks`` (also in the string and the ``task_files`` spelling), ``inline_tasks`` the ids of tasks
    written inline there. ``graders`` are all of them, also those of inline tasks.
    """

    id: str | None = None
    name: str | None = None
    skill: str | None = None
    patterns: tuple[str, ...] = ()
    inline_tasks: tuple[str, ...] = ()
    tasks_from: str | None = None
    adapter: str | None = None
    recording: str | None = None
    graders: tuple[GraderOutline, ...] = ()
    models: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    skill_directories: tuple[str, ...] = ()
    context_dir: str | None = None
    tags: tuple[str, ...] = ()
    model: str | None = None
    executor: str | None = None
    timeout_seconds: str | None = None
    first_event_timeout_seconds: str | None = None
    complete: bool = True
    unreadable: str = ""
    """Why the file has no content for us, in words."""

    @property
    def own_graders(self) -> tuple[GraderOutline, ...]:
        """The graders of the file itself: those of an eval file grade every task."""
        return tuple(grader for grader in self.graders if grader.task is None)


EMPTY = Outline(complete=False)
"""Of a file that could not be read."""

_outlines: WeakKeyDictionary[Document, Outline] = WeakKeyDictionary()


_PATTERNS_PER_CHECKPOINT = 64
_MOST_TAGS = 2_000
_TOOL_LISTS = ("required_tools", "forbidden_tools", "reject_tools", "expect_tools", "required", "forbidden")
_KEYS_OF_TOOLS = frozenset((*_TOOL_LISTS, "expect"))


def outline(tree: Tree) -> Outline:
    """Return the outline of an eval or task file."""
    root = tree.root
    if root is None or root.kind != "mapping":
        return Outline(complete=not tree.errors)
    entries = SuiteFile(tree)
    graders = collect(entries.graders())
    settings = "defaults" if entries.is_of_vally and root.entry("defaults") is not None else "config"
    return Outline(
        id=scalar_text(root.get("id")),
        name=scalar_text(root.get("name")),
        skill=scalar_text(root.get("skill_name" if tree.is_json else "skill")),
        patterns=_patterns(root),
        inline_tasks=tuple(collect(task.id for task in entries.tasks())),
        tasks_from=scalar_text(root.get("tasks_from")),
        adapter=scalar_text(root.get("config", "adapter")),
        recording=scalar_text(root.get("config", "recording")),
        graders=tuple(map(_outline_of_grader, graders)),
        model=scalar_text(root.get(settings, "model")),
        executor=next(
            (
                name
                for key in (("executor",), ("executor", "name"), ("engine",), ("engine_type",))
                if (name := scalar_text(root.get(settings, *key)))
            ),
            None,
        ),
        timeout_seconds=scalar_text(root.get("config", "timeout_seconds")),
        first_event_timeout_seconds=scalar_text(root.get("config", "first_event_timeout_seconds")),
        models=_unique(chain(_models(root), map(_model_of, graders))),
        tools=_unique(chain(_tools(root), *(_tools_in(each.node.get("config")) for each in graders))),
        skill_directories=tuple(
            node.value
            for node in _scalars(root.get("config", "skill_directories") or root.get("skill_directories"))
        ),
        context_dir=scalar_text(root.get("context_dir")),
        tags=tags_of(root),
        complete=not tree.errors,
    )


def outline_of(document: Document) -> Outline:
    """Return the outline of an open document, computed once for each version."""
    known = _outlines.get(document)
    if known is None:
        known = _outlines[document] = outline(document.tree)
    return known


def is_outlined(document: Document) -> bool:
    """Return whether the outline is computed already."""
    return document in _outlines


def weight_of(entry: Node) -> float | None:
    """Return the weight of a grader: zero and below mean 1; None if unknown, as for a ``ref`` without one."""
    node = value_at(entry, "weight")
    if node is None:
        return 1.0 if entry.get("ref") is None else None
    try:
        weight = float(scalar_text(node) or "")
    except ValueError:
        return None
    return None if not isfinite(weight) else weight if weight > 0 else 1.0


def tags_of(task: Node) -> tuple[str, ...]:
    """Return the words by which a task can be selected, each once; of a list beyond all bounds the first."""
    return _unique(node.value for node in islice(_scalars(task.get("tags")), _MOST_TAGS))


def pattern_nodes(root: Node) -> Iterator[Node]:
    """Yield the scalars that are globs of task files, in every spelling that is in use."""
    for key in ("tasks", "task_patterns"):
        tasks = root.get(key)
        if tasks is None:
            continue
        tasks = tasks.target
        if tasks.kind == "mapping":
            yield from _scalars(tasks.get("task_files"))
        elif tasks.kind == "scalar" and tasks.value:
            yield tasks
        for item in (item.target for item in tasks.each_item()):
            if item.kind == "scalar" and len(item.span):
                yield item
            elif item.written("task_files") is not None:
                yield from _scalars(item.get("task_files"))


def _patterns(root: Node) -> tuple[str, ...]:
    found: list[str] = []
    for number, node in enumerate(pattern_nodes(root), 1):
        found.append(pattern_of(node))
        if not number % _PATTERNS_PER_CHECKPOINT:
            checkpoint()
    return tuple(found)


def pattern_of(node: Node) -> str:
    """Return the glob of a scalar; the Python era wrote ``include:`` before it."""
    return node.value.removeprefix("include:").strip()


def _mappings(node: Node | None) -> Iterator[Node]:
    for item in node.target.each_item() if node else ():
        if item.target.kind == "mapping":
            yield item.target


def _outline_of_grader(grader: GraderEntry) -> GraderOutline:
    task = grader.task.id if grader.task is not None else None
    return GraderOutline(grader.name, grader.type, task, grader.has_results, weight_of(grader.node))


def _model_of(grader: GraderEntry) -> str:
    return scalar_text(grader.node.get("config", "model")) or scalar_text(grader.node.get("model")) or ""


def _models(root: Node) -> Iterator[str]:
    for path in (
        ("config", "model"),
        ("config", "judge_model"),
        ("defaults", "model"),
        ("defaults", "judgeModel"),
    ):
        yield scalar_text(root.get(*path)) or ""


def _tools(root: Node) -> Iterator[str]:
    yield from _tools_in(root.get("expected", "behavior"))
    yield from _tools_in(root.get("expected", "tool_calls"))


def _tools_in(place: Node | None) -> Iterator[str]:
    if place is None or place.target.kind != "mapping":
        return
    present = place.target.key_names
    if _KEYS_OF_TOOLS.isdisjoint(present):
        return
    for key in _TOOL_LISTS:
        if key in present:
            yield from _tool_list(place.target.get(key))
    for item in _mappings(place.target.get("expect") if "expect" in present else None):
        yield scalar_text(item.get("tool")) or scalar_text(item.get("name")) or ""


def _tool_list(node: Node | None) -> Iterator[str]:
    for item in node.target.items if node else ():
        name = scalar_text(item) or scalar_text(item.get("tool")) or scalar_text(item.get("pattern")) or ""
        # Lists of tools also take patterns; only plain names are worth offering again.
        if name.replace("-", "").replace("_", "").replace(".", "").replace(":", "").isalnum():
            yield name


def _scalars(node: Node | None) -> Iterator[Node]:
    if node is None:
        return
    node = node.target
    if node.kind == "scalar" and node.value:
        yield node
    for item in node.each_item():
        if item.target.kind == "scalar" and item.target.value:
            yield item.target


def _unique(words: Iterator[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for word in words if word))
