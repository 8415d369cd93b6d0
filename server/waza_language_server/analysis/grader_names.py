"""Names of graders: results are kept by name, so two graders of one name overwrite each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from weakref import WeakKeyDictionary

from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.spelling import listed, nearest
from waza_language_server.syntax.nodes import Green, Node
from waza_language_server.text.edit import Edit, Fix, Related
from waza_language_server.text.scalar_map import ScalarMap
from waza_language_server.text.span import Span

_names: WeakKeyDictionary[Green, str | None] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class NamedElsewhere:
    """A grader name of another file: where it is written."""

    uri: str
    span: Span


def duplicate_names(text: str, graders: Sequence[Node]) -> Iterator[Problem | None]:
    """Yield every grader whose name an earlier grader of the same document has, within one list of graders.

    Lists are compared on their own: the graders of two checkpoints never meet. None is a pause.
    """
    counted: Counter[str] = Counter()
    for grader in graders:
        name = name_of(grader)
        if name is not None:
            counted[name] += 1
        yield None
    if len(counted) == counted.total():
        return
    first: dict[tuple[object, str], Node] = {}
    names = set(counted)
    for grader in graders:
        yield None
        node = name_node(grader)
        if node is None:
            continue
        key = (grader.parent.path if grader.parent is not None else None, node.value)
        earlier = first.setdefault(key, node)
        if earlier is node:
            continue
        message = (
            f"Another grader is called `{node.value}` too; the result of one overwrites that of the other."
        )
        related = (Related(earlier.span, f"The other `{node.value}` is here."),)
        fix = _renaming(text, node, names)
        yield Problem("duplicate-grader-name", node.span, message, "warning", (fix,), related)


def names_taken_by_suite(
    text: str, graders: Sequence[Node], taken: dict[str, NamedElsewhere]
) -> Iterator[Problem]:
    """Yield the graders of a task that are called like a grader of its suite; ``taken`` are the suite's."""
    names = {name for grader in graders if (name := name_of(grader)) is not None} | set(taken)
    for grader in graders:
        node = name_node(grader)
        elsewhere = taken.get(node.value) if node is not None else None
        if node is None or elsewhere is None:
            continue
        message = f"The suite has a grader `{node.value}` too; for this task its result is overwritten."
        related = (Related(elsewhere.span, f"The suite's `{node.value}` is here.", elsewhere.uri),)
        fix = _renaming(text, node, names)
        yield Problem("grader-name-of-suite", node.span, message, "warning", (fix,), related)


def unknown_names(text: str, references: Sequence[Node], known: Sequence[str]) -> Iterator[Problem]:
    """Yield the references to graders that do not exist; ``known`` are all names there are."""
    for node in references:
        if node.value in known or not node.value:
            continue
        meant = nearest(node.value, known)
        choice = (
            f"did you mean `{meant}`?" if meant is not None else f"its graders are {listed(known, 'and')}."
        )
        fixes: tuple[Fix, ...] = ()
        if meant is not None:
            fixes = (Fix(f"Change to `{meant}`", partial(_rewritten, text, node, meant), preferred=True),)
        message = f"The suite has no grader `{node.value}`; {choice}"
        yield Problem("unknown-grader-name", node.span, message, "warning", fixes)


def name_of(grader: Node) -> str | None:
    """Return a grader's name, or None when it has none that is text; remembered while the entry lives."""
    green = grader.green
    if green in _names:
        return _names[green]
    node = name_node(grader)
    name = node.value if node is not None else None
    entry = grader.entry("name")
    if entry is None or entry.value.kind != "alias":
        _names[green] = name
    return name


def name_node(grader: Node) -> Node | None:
    """Return the node of a grader's name, or None when it has no name that is text."""
    node = grader.get("name")
    if node is None or node.target.kind != "scalar" or not node.target.value.strip():
        return None
    return node.target


def _renaming(text: str, node: Node, names: set[str]) -> Fix:
    number = 2
    while f"{node.value}_{number}" in names:
        number += 1
    new = f"{node.value}_{number}"
    return Fix(f"Rename to `{new}`", partial(_rewritten, text, node, new))


def _rewritten(text: str, node: Node, new: str) -> tuple[Edit, ...]:
    return (Edit(node.span, ScalarMap.of(text, node).write(new)),)
