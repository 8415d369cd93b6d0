"""The tasks and graders of a suite file: the one module that knows where they may be.

Outline, runnables, scores and the rules that read other files are projections of this view. Aliases and merge
keys are followed as a run follows them.

Architecture invariant: read from syntax alone, and tolerantly. Items that are not mappings are skipped, and a
half-typed file has what can be read of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple
from weakref import WeakKeyDictionary

from waza_engine.files import printable
from waza_engine.frozen import frozen
from waza_engine.spec.reading.scalars import MAX_ALIASED_NODES, Json
from waza_engine.spec.vally.name_checks import OF_CONSTRAINTS, grader_names, task_ids, type_for_skills
from waza_language_server.syntax.aliases import aliased_nodes, contains_alias
from waza_language_server.syntax.green import Green
from waza_language_server.syntax.nodes import Node, value_at
from waza_language_server.syntax.tree import Tree
from waza_language_server.text.span import Span

GraderPlace = Literal["graders", "expected", "checkpoint", "constraint"]
"""``constraint`` is a key of a stimulus of Vally that a run checks as a grader."""


@frozen()
class TaskEntry:
    """A task that is written inline in an eval file.

    ``id`` is that of its results, also when none is written. ``node`` is the mapping that defines it,
    ``item`` the item in the list: the same node, or an alias of it.
    """

    id: str
    node: Node
    item: Node


@frozen()
class GraderEntry:
    """A grader of the file itself, or of a task that is written inline in it.

    ``name`` and ``type`` are empty while they are being written. ``node`` is the mapping that defines it,
    ``item`` the item in the list: the same node, or an alias of it.
    """

    name: str
    type: str
    place: GraderPlace
    task: TaskEntry | None
    node: Node
    item: Node

    @property
    def has_results(self) -> bool:
        """Return whether it can be run by its name and its results are found by it.

        A grader without a name has no key; a checkpoint is not part of the trial's score.
        """
        return bool(self.name) and self.place != "checkpoint"

    @property
    def recorded_as(self) -> str:
        """Its unique name in records, "" if it has none."""
        if self.place != "checkpoint" or not self.name:
            return self.name
        # Few suites have checkpoints.
        from waza_engine.vocabulary import checkpoint_grader

        graders = self.item.parent
        holder = graders.parent if graders is not None else None
        turn, of_vally = scalar_text(value_at(holder, "after_turn")), scalar_text(value_at(self.node, "turn"))
        after = turn or of_vally
        if after is None or not after.isdecimal():
            return ""
        # Vally counts turns from 0.
        return checkpoint_grader(self.name, int(after) + (turn is None))


def is_of_vally(root: Node | None) -> bool:
    """Return whether a file has stimuli instead of tasks."""
    if root is None or root.kind != "mapping":
        return False
    return root.written("stimuli") is not None and root.written("tasks") is None


def is_disabled(task: Node) -> bool:
    """Return whether a task is disabled by `enabled: false`."""
    switch = task.get("enabled")
    return switch is not None and switch.target.to_python() is False


class SuiteFile:
    """The tasks and graders of an eval file, or of a task file, which is a task as a whole."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._root = tree.root if tree.root is not None and tree.root.kind == "mapping" else None

    def tasks(self, span: Span | None = None) -> Iterator[TaskEntry]:
        """Yield the tasks that are written inline; with a span those that touch it."""
        key = "evals" if self._tree.is_json else "stimuli" if self.is_of_vally else "tasks"
        tasks = value_at(self._root, key)
        yield from self.tasks_at(self._items(tasks, span) if tasks is not None else ())

    def tasks_at(self, items: Iterable[Node]) -> Iterator[TaskEntry]:
        """Yield the tasks that are written inline as some items of ``tasks``."""
        for item in items:
            task = self._mapping(item)
            if task is not None and self.is_of_vally:
                name = scalar_text(value_at(task, "name")) or ""
                yield TaskEntry(self._ids_of_stimuli[name] or f"task-{self._position(item)}", task, item)
            elif task is not None and (written := _id_of(task)) is not None:
                yield TaskEntry(written or f"task-{self._position(item)}", task, item)

    def graders(self, span: Span | None = None) -> Iterator[GraderEntry]:
        """Yield the graders of the file, then those of its inline tasks; with a span those that touch it."""
        yield from self.own_graders(span)
        # An alias may lead to a grader that is defined outside of its task.
        for task in self.tasks(span if span is not None and not self._tree.anchored else None):
            yield from self.graders_of(task, span)

    def own_graders(self, span: Span | None = None) -> Iterator[GraderEntry]:
        """Yield the graders of the file itself; with a span those that touch it."""
        if self.is_of_vally:
            yield from (each for each in self._graders_of_vally if _touches(each, span))
        elif self._root is not None:
            yield from self._graders_in(self._root, None, span)

    def graders_at(
        self, item: Node, place: GraderPlace, task: TaskEntry | None = None
    ) -> Iterator[GraderEntry]:
        """Yield the grader in an item of such a list, nothing if it is not a mapping."""
        node = item if item.green.kind == "mapping" else self._mapping(item)
        if node is not None:
            name, kind = _names.get(node.green) or _name_and_type(node)
            yield GraderEntry(name, kind, place, task, node, item)

    def graders_of(self, task: TaskEntry, span: Span | None = None) -> Iterator[GraderEntry]:
        """Yield the graders of an inline task; with a span those that touch it."""
        if self.is_of_vally:
            yield from (each for each in self._graders_of_stimulus(task) if _touches(each, span))
        else:
            yield from self._graders_in(task.node, task, span)

    def owner_of(self, offset: int) -> GraderEntry | TaskEntry | None:
        """Return the grader around an offset, or else the inline task; None outside of all."""
        here = Span(offset, offset)
        owners = (*self.graders(here), *self.tasks(here))
        return next((owner for owner in owners if _touch(owner.item.span, here)), None)

    @cached_property
    def is_of_vally(self) -> bool:
        """Return whether it is an eval file of Vally: its tasks are stimuli."""
        return not self._tree.is_json and is_of_vally(self._root)

    @cached_property
    def _ids_of_stimuli(self) -> Mapping[str, str]:
        stimuli = value_at(self._root, "stimuli")
        items = map(self._mapping, self._items(stimuli) if stimuli is not None else ())
        return task_ids(scalar_text(value_at(item, "name")) or "" for item in items if item is not None)

    @cached_property
    def _has_skills(self) -> bool:
        """Return whether the environment of the file has skills; one of ``.vally.yaml`` usually does."""
        key = "agent_environment" if value_at(self._root, "agent_environment") else "environment"
        environment = value_at(self._root, key)
        skills = environment.target.get("skills") if environment is not None else None
        return environment is not None and (
            scalar_text(environment) is not None or bool(skills and skills.items)
        )

    @cached_property
    def _graders_of_vally(self) -> tuple[GraderEntry, ...]:
        """The graders of the file itself, which a run adds to every stimulus."""
        return self._named(None, list(self._graders_in(self._root, None, None)) if self._root else [])

    def _graders_of_stimulus(self, task: TaskEntry) -> Iterator[GraderEntry]:
        """Yield the graders of a stimulus, then its constraints, which are graders as well."""
        graders = list(self._graders_in(task.node, task, None))
        graders += self._constraints(task)
        yield from self._named(task, graders)

    def _named(self, task: TaskEntry | None, graders: list[GraderEntry]) -> tuple[GraderEntry, ...]:
        """Return graders with the names that a run gives them."""
        before = () if task is None else self._graders_of_vally
        own = ((scalar_text(each.node.get("name")) or "", each.type) for each in (*before, *graders))
        names = list(grader_names(own))
        turns = value_at(task.node, "turns") if task is not None else None
        last = max(0, len(turns.target.items) - 1) if turns is not None else 0
        found: list[GraderEntry] = []
        for name, each in zip(names[len(before) :], graders, strict=True):
            turn = scalar_text(value_at(each.node, "turn"))
            is_early = task is not None and turn is not None and turn.isdecimal() and int(turn) < last
            place = "checkpoint" if is_early else each.place
            found.append(replace(each, name=name if each.type else "", place=place))
        return tuple(found)

    def _constraints(self, task: TaskEntry) -> Iterator[GraderEntry]:
        limits = value_at(task.node, "constraints")
        for key, usual in OF_CONSTRAINTS.items():
            keyword = usual
            entry = limits.target.entry(key) if limits is not None else None
            if limits is None or entry is None or entry.value.target.to_python() == []:
                continue
            if key == "max_duration_ms" and limits.target.entry("max_duration") is not None:
                continue
            if keyword == "skill-invocation":
                keyword = type_for_skills(scalar_text(each) or "" for each in entry.value.target.items)
            yield GraderEntry("", keyword, "constraint", task, entry.value, entry.value)
        entry = task.node.target.entry("expect_activation")
        if entry is not None:
            keyword = "skill-invocation" if self._has_skills else "tool-calls"
            yield GraderEntry("", keyword, "constraint", task, entry.value, entry.value)

    def _graders_in(self, holder: Node, task: TaskEntry | None, span: Span | None) -> Iterator[GraderEntry]:
        for place, graders in self._lists(holder):
            for item in self._items(graders, span):
                yield from self.graders_at(item, place, task)

    def _lists(self, holder: Node) -> Iterator[tuple[GraderPlace, Node]]:
        own = value_at(holder, "graders")
        if own is not None:
            yield "graders", own
        expected = value_at(value_at(holder, "expected"), "graders")
        if expected is not None:
            yield "expected", expected
        checkpoints = value_at(holder, "checkpoints")
        for item in self._items(checkpoints) if checkpoints is not None else ():
            graders = value_at(self._mapping(item), "graders")
            if graders is not None:
                yield "checkpoint", graders

    def _items(self, node: Node, span: Span | None = None) -> Iterator[Node]:
        """Return the items of a list; with a span only those that touch it, without visiting the others."""
        items = self._followed(node)
        return items.each_item() if span is None else _touching(items, span)

    def _followed(self, node: Node) -> Node:
        return node.target if node.kind != "alias" or self._follows_aliases else node

    def _mapping(self, item: Node) -> Node | None:
        node = self._followed(item)
        return node if node.kind == "mapping" else None

    def _position(self, item: Node) -> int:
        """Return the number of a task by which a run calls one without an id."""
        index = item.step if isinstance(item.step, int) else 0
        return index + 1 + sum(count - 1 for at, count in self._patterns if at < index)

    @cached_property
    def _patterns(self) -> tuple[tuple[int, int], ...]:
        """The items of ``tasks`` that contain several globs: their places, and the numbers of globs."""
        tasks = value_at(self._root, "tasks")
        found = ((item.step, item.get("task_files")) for item in (self._items(tasks) if tasks else ()))
        return tuple(
            (index, max(1, len(globs.target.green.children)))
            for index, globs in found
            if isinstance(index, int) and globs is not None
        )

    @cached_property
    def _follows_aliases(self) -> bool:
        """Return whether the aliases expand to no more nodes than a run would read."""
        return self._root is not None and aliased_nodes(self._root.green) <= MAX_ALIASED_NODES


def task_nodes(tree: Tree, kind: str) -> Iterator[Node]:
    """Yield the mapping of each task: the root of a task file, or those that are inline in an eval file."""
    if kind == "task" and tree.root is not None:
        yield tree.root
    elif kind == "eval":
        # Aliases of a task are tasks with the same text.
        yield from {task.node.span: task.node for task in SuiteFile(tree).tasks()}.values()


def task_id(root: Node | None, path: Path) -> str:
    """Return the id of the task of a task file: by default the name of the file."""
    return scalar_text(value_at(root, "id")) or printable(path.stem)


def rule_at(entry: Node, path: tuple[str | int, ...], graded: Json) -> Node | None:
    """Return the node of a rule of a grader: at its old path, or at its new place in the list.

    ``graded`` is the entry as it was graded, None if unknown; a rule that was edited is not found.
    """
    if not path:
        return None
    node = _in_config(entry, path)
    if graded is None:
        return node
    was = _value_at(graded, path)
    if node is not None and node.to_python() == was:
        return node
    holder = _in_config(entry, path[:-1])
    if not isinstance(path[-1], int) or holder is None:
        return None
    return next((item for item in holder.target.items if item.to_python() == was), None)


def marked_node(rule: Node) -> Node:
    """Return the node that shows the mark of a rule: for a block its key.

    Next to the first item, it would look like the verdict of that item.
    """
    entry = rule.holder if rule.style == "block" else None
    return rule if entry is None else entry.key


def _in_config(entry: Node, path: tuple[str | int, ...]) -> Node | None:
    node = entry.get("config", *path)
    # Older files write the options of a grader next to its type.
    return node if node is not None or not path else entry.get(*path)


def _value_at(graded: Json, path: tuple[str | int, ...]) -> Json:
    config = graded.get("config") if isinstance(graded, dict) else None
    value: Json = config if config is not None else graded
    for step in path:
        if isinstance(value, dict) and isinstance(step, str):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def scalar_text(node: Node | None) -> str | None:
    """Return the text of a scalar, None when it is blank or no scalar."""
    if node is None:
        return None
    green = node.target.green
    return green.value.strip() or None if green.kind == "scalar" else None


_names: WeakKeyDictionary[Green, tuple[str, str]] = WeakKeyDictionary()
"""Names and types of the grader entries that an edit has not changed."""
_ids: WeakKeyDictionary[Green, str | None] = WeakKeyDictionary()
"""The same for the ids of inline tasks."""


def _id_of(task: Node) -> str | None:
    """Return the id of an inline task, "" without one, None for globs in the place of a task."""
    if task.green in _ids:
        return _ids[task.green]
    found = None if task.entry("task_files") is not None else scalar_text(value_at(task, "id")) or ""
    if not contains_alias(task.green):
        _ids[task.green] = found
    return found


def _name_and_type(entry: Node) -> tuple[str, str]:
    found = scalar_text(value_at(entry, "name")) or "", scalar_text(value_at(entry, "type")) or ""
    if not contains_alias(entry.green):
        _names[entry.green] = found
    return found


def _touching(items: Node, span: Span) -> Iterator[Node]:
    if items.kind == "sequence":
        first, last = max(0, items.children_before(span.start) - 1), items.children_before(span.end + 1)
        for index in range(first, last):
            item = items.get(index)
            if item is not None:
                yield item


def _touches(grader: GraderEntry, span: Span | None) -> bool:
    return span is None or _touch(grader.item.span, span)


def _touch(span: Span, other: Span) -> bool:
    return span.start <= other.end and other.start <= span.end


_LISTS = {"should_trigger_prompts": True, "should_not_trigger_prompts": False}


class WrittenPrompt(NamedTuple):
    """A trigger prompt: its item, its text as it is written there, and whether the skill should start."""

    item: Node
    node: Node
    should_trigger: bool

    @property
    def text(self) -> str:
        """The prompt for the agent."""
        return self.node.target.value

    @property
    def is_bare(self) -> bool:
        """Return whether the item is a string without the key ``prompt``, which no run can read."""
        return self.node is self.item


def prompts_in(root: Node | None) -> Iterator[WrittenPrompt]:
    """Yield the prompts of a file in its order; an item without a text is left out.

    Those of a trigger list say themselves whether they should trigger the skill.
    """
    evals = root.get("evals") if root is not None and root.kind == "mapping" else root
    for item in evals.items if evals is not None else ():
        node, switch = item.get("query") or item.get("prompt"), item.get("should_trigger")
        should = switch.to_python() if switch is not None else None
        if node is not None and node.kind == "scalar" and isinstance(should, bool):
            yield WrittenPrompt(item, node, should)
    for key, should in _LISTS.items():
        listed = root.get(key) if root is not None else None
        for item in listed.target.each_item() if listed is not None else ():
            node = item.get("prompt") or item
            if node.target.kind == "scalar":
                yield WrittenPrompt(item, node, should)
