"""Aliases without their star: `<<: base`, and `&base` where the value of an anchor above is meant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from waza_language_server.analysis.problem import Problem
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from waza_language_server.syntax.tree import Tree

_MERGE = "<<"
_ANCHOR = re.compile(r"(?<=[\s\[{,])&(?P<name>[0-9A-Za-z_-]+)")
_MERGED_WORD = re.compile(r"(?<=<<:)[ \t]+(?P<name>[0-9A-Za-z_-]+)(?=[ \t]*(?:[,}#\r\n]|\Z))")


def mistaken_aliases(tree: Tree) -> Iterator[Problem]:
    """Yield the words and anchors of a text with anchors that were meant to be aliases."""
    root, text = tree.root, tree.text
    if root is None or not tree.anchored:
        return
    anchors = list(_ANCHOR.finditer(text))
    first = {each["name"]: each.start() for each in reversed(anchors)}
    for match in _MERGED_WORD.finditer(text):
        place = Span(match.start("name"), match.end("name"))
        node = root.at(place.start)
        if (
            node.step == _MERGE
            and node.style == "plain"
            and first.get(match["name"], len(text)) < place.start
        ):
            message = f"`<<` merges what an alias stands for; write `*{match['name']}`."
            yield _alias(place, match["name"], message)
    for match in anchors:
        node = root.at(match.end())
        is_empty = node.kind == "scalar" and not len(node.span) and node.green.anchor == match["name"]
        if is_empty and first[match["name"]] < match.start():
            place = Span(match.start(), match.end())
            message = f"`&{match['name']}` names a value, and there is none; write `*` for the one above."
            yield _alias(place, match["name"], message)


def _alias(place: Span, name: str, message: str) -> Problem:
    fix = Fix(f"Write `*{name}`", (Edit(place, f"*{name}"),))
    return Problem("unknown-anchor", place, message, "error", (fix,))
