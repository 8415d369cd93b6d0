"""Names of graders: results are stored by name, so two graders of one name overwrite each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from functools import partial

from waza_engine.vocabulary import EXPECTED_LISTS, grader_label
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import Found, SuiteView
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.scalar_map import ScalarMap
from waza_language_server.text.edit import Edit, Fix, Related

_RECORDED_LISTS = frozenset(f"_{key}" for key in EXPECTED_LISTS)


def duplicate_names(view: SuiteView) -> Found:
    """Yield every grader with the name of an earlier grader in the same list of the document.

    Lists are compared on their own: the graders of two checkpoints never meet. The names under which the
    lists of ``expected`` are recorded count as those of earlier graders.
    """
    text, graders = view.document.text, view.graders
    counted = Counter(filter(None, map(name_of, graders)))
    for recorded in _RECORDED_LISTS & counted.keys():
        yield from _named_like_a_list(view, recorded)
    first: dict[tuple[object, str], Node] = {}
    for grader in graders:
        node = name_node(grader)
        if node is None or counted[node.value] < 2:
            continue
        key = (grader.parent.path if grader.parent is not None else None, node.value)
        earlier = first.setdefault(key, node)
        if earlier is node:
            continue
        message = (
            f"Another grader is called `{node.value}` too; the result of one overwrites that of the other."
        )
        related = (Related(earlier.span, f"The other `{node.value}` is here."),)
        fix = renaming(text, node, counted)
        yield Problem("duplicate-grader-name", node.span, message, "warning", (fix,), related)


def _named_like_a_list(view: SuiteView, name: str) -> Found:
    message = (
        f"`{grader_label(name)}` is recorded as `{name}`, too; "
        "the result of one overwrites that of the other."
    )
    for node in map(name_node, view.graders):
        if node is not None and node.value == name:
            fix = renaming(view.document.text, node, ())
            yield Problem("duplicate-grader-name", node.span, message, "warning", (fix,))


def name_of(grader: Node) -> str | None:
    """Return a grader's name, or None if it has none that is a string."""
    node = name_node(grader)
    return node.value if node is not None else None


def name_node(grader: Node) -> Node | None:
    """Return the node of a grader's name, or None if it has none that is a string."""
    node = grader.get("name")
    named = None if node is None else node.target
    return None if named is None or named.kind != "scalar" or not named.value.strip() else named


def renaming(text: str, node: Node, names: Iterable[str]) -> Fix:
    """Return the fix that gives a grader the next free name: ``check_2``."""
    new = free_name(node.value, {node.value, *names})
    return Fix(f"Rename to `{new}`", partial(rewritten, text, node, new))


def free_name(wanted: str, taken: Collection[str]) -> str:
    """Return a name, with the first number that makes it unique."""
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    return name


def rewritten(text: str, node: Node, new: str) -> tuple[Edit, ...]:
    """Return the edits that write another name in the style of the old one."""
    return (Edit(node.span, ScalarMap.of(text, node).write(new)),)
