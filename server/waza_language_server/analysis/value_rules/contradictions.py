"""Checks of one grader, or of what a task expects, that contradict each other."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from waza_engine.checkpoint import checkpoint
from waza_engine.counting import counted
from waza_engine.files import shown
from waza_engine.later_patterns import compiled_later
from waza_engine.spec.pattern_syntax import is_found
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import NODES_AT_ONCE, FileView, Found, GraderView
from waza_language_server.analysis.value_rules.vacuous import matches_everything
from waza_language_server.syntax.item_memo import items_where
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.edit import Edit, Fix, Related

PATHS = ("must_exist", "content_patterns")
"""Keys that require files."""
REFUSED = ("regex_not_match", "must_not_match", "not_contains", "not_contains_cs", "output_not_contains")
"""Keys for which an item that occurs in every string fails every check."""
FRAGMENTS = ("contains",)
OTHERS = ("must_not_exist", "path")
"""Keys that the paths and the fragments are compared with."""
_PATTERNS = ("regex_not_match", "must_not_match")
_TEXTS = ("contains", "contains_cs")
_MOST = 200
_AROUND = compiled_later(r"\\[AbBzZ]|[$^]")
"""Syntax of a pattern that may depend on the text around its match."""
_CASELESS = compiled_later(r"\(\?i\)")


def contradicting_paths(mapping: Node, keys: set[str]) -> Iterator[Problem]:
    """Yield the paths that must not exist, although something at or below them must."""
    if "must_not_exist" not in keys or keys.isdisjoint(PATHS):
        return
    wanted: dict[str, tuple[str, Node]] = {}
    for node in _items(mapping, "must_exist")[:_MOST]:
        wanted.setdefault(_place(node), ("must_exist", node))
    for block in _items(mapping, "content_patterns")[:_MOST]:
        if (node := block.get("path")) is not None:
            wanted.setdefault(_place(node.target), ("content_patterns", node.target))
    for node in _items(mapping, "must_not_exist")[:_MOST]:
        place = _place(node)
        met = next((path for path in wanted if path == place or path.startswith(f"{place}/")), None)
        if met is None or place in {"", "."}:
            continue
        key, other = wanted[met]
        message = f"`must_not_exist` forbids `{node.value}`, and `{key}` asks for `{other.value}`."
        related = (Related(other.span, f"`{key}` asks for `{other.value}` here."),)
        yield Problem("contradiction", node.span, message, "error", related=related)


def contradicting_patterns(mapping: Node, keys: set[str]) -> Found:
    """Yield forbidden patterns and strings in every answer, and patterns that a required string matches."""
    texts = [(key, node) for key in _TEXTS if key in keys for node in _items(mapping, key)[:_MOST]]
    for key in REFUSED:
        for node in _items(mapping, key)[:_MOST] if key in keys else ():
            checkpoint()
            is_pattern = key in _PATTERNS
            if matches_everything(node.value) if is_pattern else not node.value and len(node.span):
                what = (
                    "This pattern matches every text" if is_pattern else "The empty string is in every answer"
                )
                yield Problem("contradiction", node.span, f"{what}, so the check always fails.", "error")
            elif is_pattern and (met := _held(node.value, texts)) is not None:
                name, other = met
                message = f"`{key}` forbids this pattern, which the text in `{name}` matches."
                related = (Related(other.span, f"`{name}` asks for the text here."),)
                yield Problem("contradiction", node.span, message, "error", related=related)


def contradicting_fragments(mapping: Node, keys: set[str]) -> Iterator[Problem]:
    """Yield fragments that a file both must and must not contain."""
    if "contains" not in keys or mapping.parent is None or "path" not in keys:
        return
    wanted: dict[str, Node] = {}
    items = _items(mapping, "contains")[:_MOST]
    for node in items:
        if node.value[:1] != "-" and (text := _fragment(node.value)):
            wanted.setdefault(text, node)
    for node in items:
        text = _fragment(node.value)
        if node.value[:1] != "-" or not text:
            continue
        other = next((wanted[each] for each in wanted if text in each), None)
        if other is not None:
            message = f"`{node.value[:40]}` must not be in the file, and `{other.value[:40]}` must."
            related = (Related(other.span, "This must be in the file."),)
            yield Problem("contradiction", node.span, message, "error", related=related)


def _held(pattern: str, texts: list[tuple[str, Node]]) -> tuple[str, Node] | None:
    """Return the required string in which a pattern matches, whatever the text around it."""
    if not texts or len(pattern) > _MOST or _AROUND.search(pattern):
        return None
    ignores_case = _CASELESS.match(pattern) is not None
    for key, node in texts:
        text = node.value
        # The answer may have other capitals than a string that is compared ignoring case.
        is_exact = key == "contains_cs" or ignores_case or text.lower() == text.upper()
        if text and is_exact and is_found(pattern, text):
            return key, node
    return None


def _fragment(written: str) -> str:
    return (written[1:] if written[:1] in {"+", "-"} else written).strip()


def _place(node: Node) -> str:
    return posixpath.normpath(node.value) if node.value else ""


def _items(mapping: Node, key: str) -> list[Node]:
    node = mapping.get(key)
    return [item.target for item in node.target.items] if node is not None else []


PAIRS = (("expect_tools", "allow_only"),)
_EXACT = compiled_later(r"\^([\w.:-]+)\$\Z")
_SAME: Mapping[str, str] = MappingProxyType({"view": "read", "edit": "write", "web_fetch": "fetch"})
"""Equivalent names of a tool, as in `allow_only`."""


def contradicting_tools(mapping: Node, keys: set[str]) -> Iterator[Problem]:
    """Yield the required tools that `allow_only` leaves out."""
    for wanted, allowed in PAIRS:
        around = mapping.get(allowed) if wanted in keys and allowed in keys else None
        if around is None or around.target.kind != "sequence":
            continue
        named = [_written(item.target) for item in around.target.items]
        if any(name is None or ":" in name for name in named):
            continue
        names = {_one(name.strip("^$")) for name in named if name is not None}
        listed = mapping.get(wanted)
        for item in listed.target.items if listed is not None else ():
            node = item.target
            name = _written(node)
            match = _EXACT.match(name) if name is not None and node.kind == "mapping" else None
            exact = match[1] if match is not None else name if node.kind == "scalar" else None
            if not exact or ":" in exact or _one(exact) in names:
                continue
            place = node if node.kind == "scalar" else node.get("tool") or node
            message = f"`{wanted}` asks for `{shown(exact)}`, which `{allowed}` does not allow."
            related = (Related(around.span, f"`{allowed}` allows only these."),)
            yield Problem("contradiction", place.span, message, "error", related=related)


def _written(node: Node) -> str | None:
    tool = node if node.kind == "scalar" else node.get("tool")
    return tool.target.value if tool is not None and tool.target.kind == "scalar" else None


def _one(name: str) -> str:
    folded = name.casefold()
    return _SAME.get(folded, folded)


LOWER, UPPER = ("gte", "gt"), ("lte", "lt")


def empty_ranges(mapping: Node, keys: set[str]) -> Iterator[Problem]:
    """Yield the lower bound of a range without any number in it."""
    if mapping.step != "range":
        return
    for low in LOWER:
        for high in UPPER:
            first = mapping.get(low) if low in keys else None
            second = mapping.get(high) if high in keys else None
            least, most = _number(first), _number(second)
            if first is None or second is None or least is None or most is None:
                continue
            touching = least == most and (low, high) != ("gte", "lte")
            if least <= most and not touching:
                continue
            message = f"No number lies between `{low}` ({first.value}) and `{high}` ({second.value})."
            fixes: tuple[Fix, ...] = ()
            if not touching:
                swap = (Edit(first.span, second.value), Edit(second.span, first.value))
                fixes = (Fix("Swap the two", swap),)
            related = (Related(second.span, f"`{high}` stands here."),)
            yield Problem("bounds-reversed", first.span, message, "warning", fixes, related)
            return


def _number(node: Node | None) -> int | float | None:
    value = node.to_python() if node is not None and node.kind == "scalar" else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


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
            checkpoint()
            yield from _in_mapping(node)


def contradictions_of_expected(view: FileView) -> Found:
    """Yield the same for the expectations of tasks."""
    root = view.tree.root
    if root is None or view.kind not in {"task", "eval"}:
        return
    listed = root.get("tasks") if view.kind == "eval" else None
    tasks = (root,) if view.kind == "task" else ()
    for task in tasks if listed is None else items_where(listed, _may_contradict):
        checkpoint()
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
    items, refused = _items_of_rows(mapping, wanted), _items_of_rows(mapping, unwanted)
    by_meaning = {meaning(item): item for item in reversed(items)}
    checkpoint()
    few = within and len(items) * len(refused) <= MOST_COMPARED * MOST_COMPARED
    for number, item in enumerate(refused, 1):
        if not number % NODES_AT_ONCE:
            checkpoint()
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
    needed = len({_exact(item) for item in _items_of_rows(mapping, wanted)})
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
    items, refused = (
        _items_of_rows(mapping, wanted),
        [_folded(item) for item in _items_of_rows(mapping, unwanted)],
    )
    held = mapping.get(wanted)
    if held is None or not items or len(items) * len(refused) > MOST_COMPARED * MOST_COMPARED:
        return
    if all(any(text.strip() and text in _folded(item) for text in refused) for item in items):
        message = f"`{unwanted}` forbids each of these texts, and `{wanted}` asks for one of them."
        yield Problem("contradiction", held.span, message, "error")


def _items_of_rows(mapping: Node, key: str) -> list[Node]:
    node = mapping.get(key)
    return [item.target for item in node.target.items] if node is not None else []


def _shown(node: Node) -> str:
    text = _exact(node)
    return f"`{text if len(text) <= 40 else text[:39] + '…'}`"
