"""Checks of strings and files that contradict each other, and checks that no answer can pass.

Every report is valid for all answers: a pattern is compared with a string only if it has no lookaround.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Any

from waza_engine.later_patterns import compiled_later
from waza_engine.spec.pattern_syntax import PatternSyntaxError, dialect_of, searcher
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import Found
from waza_language_server.analysis.value_rules.vacuous import matches_everything
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.edit import Related

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
            yield None
            is_pattern = key in _PATTERNS
            if matches_everything(node.value) if is_pattern else not node.value and len(node.span):
                what = (
                    "This pattern matches every text" if is_pattern else "The empty text is in every answer"
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
    if not texts or _AROUND.search(pattern):
        return None
    compiled = _compiled(pattern)
    if compiled is None:
        return None
    ignores_case = _CASELESS.match(pattern) is not None
    for key, node in texts:
        text = node.value
        # The answer may have other capitals than a string that is compared ignoring case.
        is_exact = key == "contains_cs" or ignores_case or text.lower() == text.upper()
        if text and is_exact and compiled.search(text) is not None:
            return key, node
    return None


def _compiled(pattern: str) -> Any:
    try:
        return searcher(pattern) if len(pattern) <= _MOST and dialect_of(pattern) == "re2" else None
    except PatternSyntaxError:
        return None


def _fragment(written: str) -> str:
    return (written[1:] if written[:1] in {"+", "-"} else written).strip()


def _place(node: Node) -> str:
    return posixpath.normpath(node.value) if node.value else ""


def _items(mapping: Node, key: str) -> list[Node]:
    node = mapping.get(key)
    return [item.target for item in node.target.items] if node is not None else []
