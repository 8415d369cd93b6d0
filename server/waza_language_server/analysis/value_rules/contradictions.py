"""Keys that contradict each other: such a check fails whatever the agent does."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from waza_engine.counting import counted
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import NODES_AT_ONCE, FileView, Found, GraderView
from waza_language_server.analysis.value_rules.contradicting_checks import (
    FRAGMENTS,
    OTHERS,
    PATHS,
    REFUSED,
    contradicting_fragments,
    contradicting_paths,
    contradicting_patterns,
)
from waza_language_server.analysis.value_rules.contradicting_tools import PAIRS, contradicting_tools
from waza_language_server.analysis.value_rules.empty_ranges import LOWER, UPPER, empty_ranges
from waza_language_server.syntax.kept_items import items_where
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.edit import Related

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
)
_LIMITS = (("required_tools", "max_tool_calls"), ("required_tools", "max_calls"), ("expect", "max_calls"))
_ANY = ("output_contains_any", "output_not_contains")
_ASKING = frozenset(
    (
        *(wanted for wanted, _ in (*_WITHIN, *_EQUAL, *_LIMITS, *PAIRS)),
        _ANY[0],
        *PATHS,
        *REFUSED,
        *FRAGMENTS,
        *LOWER,
    )
)
_LIMITING = frozenset(
    (
        *(unwanted for _, unwanted in (*_WITHIN, *_EQUAL, *_LIMITS, *PAIRS)),
        _ANY[1],
        *REFUSED,
        *UPPER,
        *OTHERS,
    )
)
"""There is no contradiction in a mapping without any of the one kind, or of the other."""


def contradictions_of_grader(view: GraderView) -> Found:
    """Yield the items of a grader that contradict others of it."""
    for node, _ in view.located:
        if node.green.kind == "mapping" and _may_contradict_itself(node):
            yield None
            yield from _in_mapping(node)


def contradictions_of_expected(view: FileView) -> Found:
    """Yield the same for the expectations of tasks."""
    root = view.tree.root
    if root is None or view.kind not in {"task", "eval"}:
        return
    listed = root.get("tasks") if view.kind == "eval" else None
    tasks = (root,) if view.kind == "task" else ()
    for task in tasks if listed is None else (yield from items_where(listed, _may_contradict)):
        yield None
        for mapping in _expected(task):
            yield from _in_mapping(mapping)


def _may_contradict(task: Node) -> bool:
    return any(map(_may_contradict_itself, _expected(task)))


def _may_contradict_itself(mapping: Node) -> bool:
    keys = mapping.key_names
    return not _ASKING.isdisjoint(keys) and not _LIMITING.isdisjoint(keys)


def _expected(task: Node) -> Iterator[Node]:
    for path in (("expected",), ("expected", "behavior"), ("expected", "tool_calls")):
        node = task.get(*path)
        if node is not None and node.target.kind == "mapping":
            yield node.target


def _in_mapping(mapping: Node) -> Found:
    if not _may_contradict_itself(mapping):
        return
    keys = set(mapping.key_names)
    for (wanted, unwanted), meaning in _WITHIN.items():
        if wanted in keys and unwanted in keys:
            yield from _between(mapping, wanted, unwanted, meaning, within=True)
    for wanted, unwanted in _EQUAL:
        if wanted in keys and unwanted in keys:
            yield from _between(mapping, wanted, unwanted, _exact, within=False)
    for wanted, limit in _LIMITS:
        if wanted in keys and limit in keys:
            yield from _too_few_calls(mapping, wanted, limit)
    if keys.issuperset(_ANY):
        yield from _none_of_them(mapping, *_ANY)
    yield from contradicting_paths(mapping, keys)
    yield from contradicting_patterns(mapping, keys)
    yield from contradicting_fragments(mapping, keys)
    yield from contradicting_tools(mapping, keys)
    yield from empty_ranges(mapping, keys)


def _between(mapping: Node, wanted: str, unwanted: str, meaning: Meaning, *, within: bool) -> Found:
    items, refused = _items(mapping, wanted), _items(mapping, unwanted)
    by_meaning = {meaning(item): item for item in reversed(items)}
    yield None
    few = within and len(items) * len(refused) <= MOST_COMPARED * MOST_COMPARED
    for number, item in enumerate(refused, 1):
        if not number % NODES_AT_ONCE:
            yield None
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


def _too_few_calls(mapping: Node, wanted: str, limit: str) -> Iterator[Problem]:
    node = mapping.get(limit)
    most = node.target.to_python() if node is not None else None
    if node is None or not isinstance(most, int) or isinstance(most, bool) or most < 0:
        return
    if most == 0 and limit != "max_calls":
        # There it means that nothing is limited.
        return
    needed = len({_exact(item) for item in _items(mapping, wanted)})
    if wanted == "expect":
        # One call may satisfy several of them.
        needed = min(needed, 1)
    if needed > most:
        allowed = counted(most, "call") if most else "none"
        asked = "a tool call" if needed == 1 else f"{needed} different tools"
        message = f"`{wanted}` asks for {asked}, but `{limit}` allows {allowed}."
        yield Problem("contradiction", node.span, message, "error")


def _none_of_them(mapping: Node, wanted: str, unwanted: str) -> Iterator[Problem]:
    """Yield a list, one of whose items must occur, if each item contains a forbidden one."""
    items, refused = _items(mapping, wanted), [_folded(item) for item in _items(mapping, unwanted)]
    held = mapping.get(wanted)
    if held is None or not items or len(items) * len(refused) > MOST_COMPARED * MOST_COMPARED:
        return
    if all(any(text.strip() and text in _folded(item) for text in refused) for item in items):
        message = f"`{unwanted}` forbids each of these texts, and `{wanted}` asks for one of them."
        yield Problem("contradiction", held.span, message, "error")


def _items(mapping: Node, key: str) -> list[Node]:
    node = mapping.get(key)
    return [item.target for item in node.target.items] if node is not None else []


def _shown(node: Node) -> str:
    text = _exact(node)
    return f"`{text if len(text) <= 40 else text[:39] + '…'}`"
