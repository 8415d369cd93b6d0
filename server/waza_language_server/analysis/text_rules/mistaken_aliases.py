"""Aliases without their star: `<<: base`, or `&base` instead of `*base`.

Also invalid merges: `<<: (*base)`, `<: *base`.
"""

from __future__ import annotations

import re
from collections.abc import Container
from typing import TYPE_CHECKING

from waza_engine.later_patterns import compiled_later
from waza_engine.spec.reading.scalars import MERGE_KEY
from waza_engine.spec.reading.yaml_faults import NO_BLOCK_TO_MERGE, sentence
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import Found
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

if TYPE_CHECKING:
    from waza_language_server.syntax.nodes import Node
    from waza_language_server.syntax.tree import Tree

_ANCHOR = compiled_later(r"(?<=[\s\[{,])&(?P<name>[0-9A-Za-z_-]+)")
_ALIAS = compiled_later(r"\*(?P<name>[\w-]+)")
_MERGED_WORD = compiled_later(r"(?<=<<:)[ \t]+(?P<name>[0-9A-Za-z_-]+)(?=[ \t]*(?:[,}#\r\n]|\Z))")

_MERGED_TEXT = compiled_later(r"(?<=<<:)[ \t]+(?P<value>[^\s*&\[{#!|>][^\r\n]*)")
_IN_PARENTHESES = compiled_later(r"\((?P<names>\*[\w-]+(?:[ \t]*,[ \t]*\*[\w-]+)*)\)")
_HALF_MERGE = compiled_later(r"(?:(?<=[\s{,])|^)(?:<|<<<)(?=:[ \t]+\*)", re.MULTILINE)


def mistaken_aliases(tree: Tree) -> Found:
    """Yield the words and anchors, in a text with anchors or merges, that were intended as aliases."""
    root, text = tree.root, tree.text
    if root is None:
        return
    anchors = list(_ANCHOR.finditer(text))
    first = {each["name"]: each.start() for each in reversed(anchors)}
    told: set[int] = set()
    for match in _MERGED_WORD.finditer(text):
        yield
        place = Span(match.start("name"), match.end("name"))
        node = root.at(place.start)
        if (
            node.step == MERGE_KEY
            and node.style == "plain"
            and first.get(match["name"], len(text)) < place.start
        ):
            told.add(place.start)
            message = f"`<<` merges what an alias stands for; write `*{match['name']}`."
            yield _alias(place, match["name"], message)
    yield from _no_blocks(text, root, told)
    used: set[str] | None = None
    for match in anchors:
        yield
        node = root.at(match.end())
        is_empty = node.kind == "scalar" and not len(node.span) and node.green.anchor == match["name"]
        if is_empty and first[match["name"]] < match.start():
            place = Span(match.start(), match.end())
            message = f"`&{match['name']}` names a value, and there is none; write `*` for the one above."
            yield _alias(place, match["name"], message)
        elif is_empty and isinstance(node.step, str):
            used = {each["name"] for each in _ALIAS.finditer(text)} if used is None else used
            if match["name"] in used:
                continue
            place = Span(match.start(), match.end())
            message = (
                f"`&{match['name']}` names a value for YAML, and there is none; write `{match['name']}`."
            )
            fix = Fix(f"Change to `{match['name']}`", (Edit(place, match["name"]),))
            yield Problem("unlikely-value", place, message, "warning", (fix,))


def _no_blocks(text: str, root: Node, told: Container[int]) -> Found:
    """Yield the strings in place of a block to merge, and the aliases after half of the merge key."""
    for match in _MERGED_TEXT.finditer(text):
        yield
        place = Span(match.start("value"), match.end("value"))
        node = root.at(place.start)
        if node.step == MERGE_KEY and node.kind == "scalar" and node.span.start == place.start not in told:
            place = node.span
            aliases = _IN_PARENTHESES.fullmatch(text, place.start, place.end)
            fixes: tuple[Fix, ...] = ()
            if aliases is not None:
                meant = aliases["names"] if "," not in aliases["names"] else f"[{aliases['names']}]"
                fixes = (Fix(f"Change to `{meant}`", (Edit(place, meant),)),)
            yield Problem("yaml-syntax", place, sentence(NO_BLOCK_TO_MERGE), "error", fixes)
    for match in _HALF_MERGE.finditer(text):
        yield
        key = root.at(match.start())
        if key.step is None and key.style == "plain" and key.value == match[0]:
            message = f"`{match[0]}` is a key like any other; write `<<` to take over the keys of a block."
            fix = Fix("Write `<<`", (Edit(key.span, MERGE_KEY),))
            yield Problem("yaml-syntax", key.span, message, "warning", (fix,))


def _alias(place: Span, name: str, message: str) -> Problem:
    fix = Fix(f"Write `*{name}`", (Edit(place, f"*{name}"),))
    return Problem("unknown-anchor", place, message, "error", (fix,))
