"""Checks of one grader, or of what a task expects, that contradict each other."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from waza_engine.checkpoint import checkpoint
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import FileView, Found, GraderView
from waza_language_server.analysis.value_rules.vacuous import matches_everything, number_of
from waza_language_server.project.suite_file import task_nodes
from waza_language_server.syntax.nodes import Node, listed_in
from waza_language_server.text.edit import Edit, Fix, Related

REFUSED = ("regex_not_match", "must_not_match", "not_contains", "not_contains_cs", "output_not_contains")
"""Keys for which an item that occurs in every string fails every check."""
_PATTERNS = ("regex_not_match", "must_not_match")


def refused_by_all(mapping: Node, keys: set[str]) -> Found:
    """Yield the forbidden patterns and strings that are in every answer."""
    for key in REFUSED:
        for node in listed_in(mapping.get(key)) if key in keys else ():
            checkpoint()
            is_pattern = key in _PATTERNS
            if matches_everything(node.value) if is_pattern else not node.value and len(node.span):
                what = (
                    "This pattern matches every text" if is_pattern else "The empty string is in every answer"
                )
                yield Problem("contradiction", node.span, f"{what}, so the check always fails.", "error")


LOWER, UPPER = ("gte", "gt"), ("lte", "lt")


def empty_ranges(mapping: Node, keys: set[str]) -> Iterator[Problem]:
    """Yield the lower bound of a range without any number in it."""
    if mapping.step != "range":
        return
    for low in LOWER:
        for high in UPPER:
            first = mapping.get(low) if low in keys else None
            second = mapping.get(high) if high in keys else None
            if first is None or second is None:
                continue
            least, most = number_of(first), number_of(second)
            if least is None or most is None:
                continue
            touching = least == most and (low, high) != ("gte", "lte")
            if least <= most and not touching:
                continue
            message = f"No number lies between `{low}` ({first.value}) and `{high}` ({second.value})."
            fixes: tuple[Fix, ...] = ()
            if not touching:
                swap = (Edit(first.span, second.value), Edit(second.span, first.value))
                fixes = (Fix("Swap the two", swap),)
            related = (Related(second.span, f"`{high}` is here."),)
            yield Problem("bounds-reversed", first.span, message, "warning", fixes, related)
            return


Meaning = Callable[[Node], str]

MOST_COMPARED = 200
"""Items of a list that are searched for inside others; in longer lists only equal items are found."""


def _exact(node: Node) -> str:
    return node.value if node.kind == "scalar" else json.dumps(node.to_python(), sort_keys=True, default=str)


def _folded(node: Node) -> str:
    return _exact(node).lower()


_WITHIN: Mapping[tuple[str, str], Meaning] = MappingProxyType(
    {
        ("contains", "not_contains"): _folded,
        ("contains_cs", "not_contains"): _folded,
        ("contains_cs", "not_contains_cs"): _exact,
        ("must_contain", "must_not_contain"): _folded,
        ("keywords", "must_not_contain"): _folded,
        ("output_contains", "output_not_contains"): _folded,
    }
)
"""Required and forbidden strings: one that contains the other contradicts it."""
_EQUAL = (
    ("regex_match", "regex_not_match"),
    ("must_match", "must_not_match"),
    ("required_tools", "forbidden_tools"),
    ("required_skills", "forbidden_skills"),
    ("expect_tools", "reject_tools"),
    ("required", "forbidden"),
    ("must_exist", "must_not_exist"),
)
_ASKING = frozenset((*(wanted for wanted, _ in (*_WITHIN, *_EQUAL)), *REFUSED, *LOWER))
_LIMITING = frozenset((*(unwanted for _, unwanted in (*_WITHIN, *_EQUAL)), *REFUSED, *UPPER))
"""There is no contradiction in a mapping without any of the one kind, or of the other."""


def contradictions_of_grader(view: GraderView) -> Found:
    """Yield the items of a grader that contradict others of it."""
    for node, _ in view.located:
        if node.green.kind == "mapping":
            yield from _in_mapping(node)


def contradictions_of_expected(view: FileView) -> Found:
    """Yield the same for the expectations of tasks."""
    for task in task_nodes(view.tree, view.kind):
        for mapping in _expected(task):
            yield from _in_mapping(mapping)


def _expected(task: Node) -> Iterator[Node]:
    for path in (("expected",), ("expected", "behavior"), ("expected", "tool_calls")):
        node = task.get(*path)
        if node is not None and node.target.kind == "mapping":
            yield node.target


def _in_mapping(mapping: Node) -> Found:
    keys = set(mapping.key_names)
    if keys.isdisjoint(_ASKING) or keys.isdisjoint(_LIMITING):
        return
    for (wanted, unwanted), meaning in _WITHIN.items():
        if wanted in keys and unwanted in keys:
            yield from _between(mapping, wanted, unwanted, meaning, within=True)
    for wanted, unwanted in _EQUAL:
        if wanted in keys and unwanted in keys:
            yield from _between(mapping, wanted, unwanted, _exact, within=False)
    yield from refused_by_all(mapping, keys)
    yield from empty_ranges(mapping, keys)


def _between(mapping: Node, wanted: str, unwanted: str, meaning: Meaning, *, within: bool) -> Found:
    items, refused = list(listed_in(mapping.get(wanted))), list(listed_in(mapping.get(unwanted)))
    by_meaning = {meaning(item): item for item in reversed(items)}
    checkpoint()
    few = within and len(items) * len(refused) <= MOST_COMPARED * MOST_COMPARED
    for item in refused:
        text = meaning(item)
        if not text.strip():
            continue
        other = by_meaning.get(text)
        if other is None and few:
            other = next((by_meaning[each] for each in by_meaning if text in each), None)
        if other is not None:
            shown = _shown(item)
            message = f"`{unwanted}` forbids {shown}, which `{wanted}` asks for; no answer can do both."
            related = (Related(other.span, f"`{wanted}` asks for {_shown(other)} here."),)
            yield Problem("contradiction", item.span, message, "error", related=related)


def _shown(node: Node) -> str:
    text = _exact(node)
    return f"`{text if len(text) <= 40 else text[:39] + '…'}`"
