"""The values of a suite file that decide its scores, so that then and now can be compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast
from weakref import WeakKeyDictionary

from waza_engine.checkpoint import checkpoint
from waza_engine.results.freshness import deciding_values
from waza_engine.spec.reading.scalars import Json
from waza_language_server.project.suite_file import GraderEntry, SuiteFile, is_of_vally, scalar_text
from waza_language_server.syntax.aliases import contains_alias
from waza_language_server.syntax.green import Green
from waza_language_server.syntax.nodes import ItemMemo
from waza_language_server.syntax.tree import Tree

if TYPE_CHECKING:
    from waza_language_server.syntax.nodes import Node

INPUTS = "//inputs"
SUITE = "//suite"
"""The values of an eval file that decide all answers, at the place of the file; none while it is broken."""
Values = Mapping[tuple[str, str], Json]
"""By task (`""` for the file itself) and by the name of a grader, or `//inputs` and the like."""

ByPlace = Mapping[str, Mapping[str, Json]]
"""The same by task, and then by name."""

_CHECKS = ("graders", "constraints", "expect_activation", "description", "tags")
"""The keys of a stimulus of Vally that decide no answer."""
_of_trees: WeakKeyDictionary[Tree, Values] = WeakKeyDictionary()
"""The values of open documents, as long as they are not edited."""
_written: WeakKeyDictionary[Green, Json] = WeakKeyDictionary()
"""The values of grader entries that an edit has not changed."""
_rows: ItemMemo[tuple[str, Json] | None] = ItemMemo()


def current_values(tree: Tree) -> Values:
    """Return the current values of an open document, computed once for each version."""
    known = _of_trees.get(tree)
    if known is None:
        known = _of_trees[tree] = values(tree)
    return known


def values(tree: Tree) -> Values:
    """Return what decides the scores of a file: graders, inputs, expectations and metrics, by their place."""
    if tree.is_lines:
        return _values_of_rows(tree)
    found: dict[tuple[str, str], Json] = {}
    suite = SuiteFile(tree)
    for grader in suite.graders():
        place = grader.task.id if grader.task is not None else ""
        if recorded_as := grader.recorded_as:
            found[place, recorded_as] = written_in(grader)
        if (place, INPUTS) not in found:
            found[place, INPUTS] = inputs_around(grader)
        checkpoint()
    places = [(task.id, task.node) for task in suite.tasks()]
    if tree.root is not None:
        places.append(("", tree.root))
        if (suite.is_of_vally or tree.root.get("config") is not None) and not tree.errors:
            named = {entry.key.value: entry.value for entry in reversed(tree.root.entries)}
            large = ("tasks", "graders", "metrics", "stimuli", "scoring")
            found["", SUITE] = cast(
                "Json",
                deciding_values({key: named[key].to_python() for key in named if key not in large}),
            )
    for place, node in places:
        if tree.is_json and place:
            # A case has no blocks: any of its keys may decide.
            found[place, INPUTS] = node.to_python()
            continue
        if suite.is_of_vally:
            found[place, INPUTS] = _inputs_of(node)
        keys = ("scoring",) if suite.is_of_vally else ("inputs", "expected", "metrics")
        for key in keys:
            value = node.get(key)
            found[place, f"//{key}"] = value.to_python() if value is not None else None
        checkpoint()
    return found


def _values_of_rows(tree: Tree) -> Values:
    """Return the prompts of a file of prompts by their ids: graders get all keys of a line."""
    rows = _rows.of(tree.root, _id_and_row) if tree.root is not None else ()
    return {(row[0], INPUTS): row[1] for row in rows if row is not None}


def _id_and_row(row: Node) -> tuple[str, Json] | None:
    name = scalar_text(row.get("id")) if row.kind == "mapping" else None
    return (name, row.to_python()) if name else None


def values_by_task(values: Values) -> ByPlace:
    """Return values by the task that they belong to, without ``SUITE``."""
    found: dict[str, dict[str, Json]] = {}
    for place, name in values:
        if name != SUITE:
            found.setdefault(place, {})[name] = values[place, name]
    return found


def written_in(grader: GraderEntry) -> Json:
    """Return the value of a grader entry, cached as long as it is not edited; do not mutate it."""
    green = grader.node.green
    if green in _written:
        return _written[green]
    found = grader.node.to_python()
    if not contains_alias(green):
        _written[green] = found
    return found


def inputs_around(grader: GraderEntry) -> Json:
    """Return the ``inputs`` of the task around a grader entry."""
    return _inputs_of(grader.task.node if grader.task is not None else grader.node.root)


def _inputs_of(task: Node) -> Json:
    """Return what decides the answers to a task; of a stimulus of Vally these are most of its keys."""
    if is_of_vally(task.root):
        found = {each.key.value: each.value.to_python() for each in task.entries if task.step is not None}
        return {key: value for key, value in found.items() if key not in _CHECKS}
    node = task.get("inputs")
    return node.to_python() if node is not None else None
