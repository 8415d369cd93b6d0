"""How much of a file survives a mistake: random edits and the share of key paths that can still be found.

A key path is the way to a key (``graders``, 0, ``config``) together with the line it stands on. The paths of
the intact file come from PyYAML, not from the tree under test. What an edit itself destroys does not count:
keys whose own characters (or those of a key or dash above them) were edited, and keys whose line was joined
to the one before.
"""

import random
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.tree import Tree
from waza_language_server.text.line_index import LineIndex
from waza_language_server.text.span import Span

Path = tuple[str | int, ...]
PUNCTUATION = "\"'[]{}:,#&*!|>%@`-?\\ \t"


@dataclass(frozen=True)
class Change:
    """Replace ``span`` by ``text``."""

    span: Span
    text: str


@dataclass(frozen=True)
class KeyPath:
    """A key of the intact file.

    ``holders`` are the characters that make it: its own, and those of all above it.
    """

    path: Path
    start: int
    holders: tuple[Span, ...]


def key_paths(text: str) -> list[KeyPath]:
    """Return the key paths of a file that PyYAML reads; empty when it does not."""
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, UnicodeError):
        return []
    return list(_composed(text, root, (), ())) if root is not None else []


def _composed(text: str, node: yaml.Node, path: Path, holders: tuple[Span, ...]) -> Iterator[KeyPath]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            start, end = key.start_mark.index, key.end_mark.index
            below = (*holders, Span(start, text.find(":", end) + 2))
            yield KeyPath((*path, key.value), start, below)
            yield from _composed(text, value, (*path, key.value), below)
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            start = item.start_mark.index
            dash = text.rfind("-", 0, start + 1) if not node.flow_style else start
            yield from _composed(text, item, (*path, index), (*holders, Span(dash, dash + 2)))


def found_paths(tree: Tree) -> set[tuple[Path, int]]:
    """Return (path, line) of every key of a tree."""
    lines = LineIndex(tree.text)
    found: set[tuple[Path, int]] = set()
    stack: list[Node] = [tree.root] if tree.root is not None else []
    while stack:
        node = stack.pop()
        for entry in node.entries:
            found.add(((*node.path, entry.key.value), lines.line_of(entry.key.span.start)))
        stack.extend(entry.value for entry in node.entries)
        stack.extend(node.items)
    return found


def random_changes(text: str, randomness: random.Random, count: int) -> list[Change]:
    """Return ``count`` mistakes in different places, in order."""
    changes: list[Change] = []
    while len(changes) < count:
        change = _mistake(text, randomness)
        if change is not None and all(
            change.span.end < other.span.start - 1 or change.span.start > other.span.end + 1
            for other in changes
        ):
            changes.append(change)
    return sorted(changes, key=lambda change: change.span)


def _mistake(text: str, randomness: random.Random) -> Change | None:
    at = randomness.randrange(len(text))
    line_start = text.rfind("\n", 0, at) + 1
    line_end = text.find("\n", at)
    line_end = len(text) if line_end < 0 else line_end
    indent = len(text[line_start:line_end]) - len(text[line_start:line_end].lstrip(" "))
    kind = randomness.choice(
        [
            "delete",
            "insert",
            "replace",
            "deeper",
            "shallower",
            "tab",
            "quote",
            "join",
            "cut",
            "colon",
            "bracket",
        ]
    )
    if kind == "delete":
        return Change(Span(at, at + 1), "")
    if kind == "insert":
        return Change(Span(at, at), randomness.choice(PUNCTUATION))
    if kind == "replace":
        return Change(Span(at, at + 1), randomness.choice(PUNCTUATION))
    if kind == "deeper":
        return Change(Span(line_start, line_start), " ")
    if kind == "shallower" and indent:
        return Change(Span(line_start, line_start + 1), "")
    if kind == "tab" and indent:
        return Change(Span(line_start, line_start + indent), "\t")
    if kind == "quote":
        return _in_value(text, line_start, line_end, '"')
    if kind == "bracket":
        return _in_value(text, line_start, line_end, randomness.choice("[{"))
    if kind == "join" and line_end < len(text):
        return Change(Span(line_end, line_end + 1), "")
    if kind == "cut" and line_end > at:
        return Change(Span(at, line_end), "")
    if kind == "colon" and (colon := text.find(": ", line_start, line_end)) >= 0:
        return Change(Span(colon, colon + 1), randomness.choice(["", "::", ": a:"]))
    return None


def _in_value(text: str, start: int, end: int, char: str) -> Change | None:
    """Open a quote or bracket where the value of the line begins."""
    colon = text.find(": ", start, end)
    return Change(Span(colon + 2, colon + 2), char) if colon >= 0 else None


def apply(text: str, changes: list[Change]) -> str:
    """Return the text after the changes, which are in order and apart."""
    parts: list[str] = []
    at = 0
    for change in changes:
        parts.extend((text[at : change.span.start], change.text))
        at = change.span.end
    return "".join((*parts, text[at:]))


def expected_paths(keys: list[KeyPath], text: str, changes: list[Change]) -> set[tuple[Path, int]]:
    """Return (path, line in the edited text) of every key the changes did not destroy."""
    starts = [change.span.start for change in changes]
    moved = [0]
    for change in changes:
        moved.append(moved[-1] + len(change.text) - len(change.span))
    lines = LineIndex(apply(text, changes))
    return {
        (key.path, lines.line_of(key.start + moved[bisect_right(starts, key.start)]))
        for key in keys
        if not any(_destroys(change, key, text) for change in changes)
    }


def _destroys(change: Change, key: KeyPath, text: str) -> bool:
    span = change.span
    joins = "\n" in text[span.start : span.end]
    for holder in key.holders:
        line_start = text.rfind("\n", 0, holder.start) + 1
        if span.start < holder.end and span.end > holder.start:
            return True
        if len(span) == 0 and holder.start < span.start < holder.end:
            return True
        if joins and span.start < line_start <= span.end:
            return True
    return False
