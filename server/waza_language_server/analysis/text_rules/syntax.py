"""Syntax errors of a text. The modules that explain them are loaded with the first fault."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from waza_engine.later_patterns import compiled_later
from waza_engine.spec.reading.scalars import MAX_ALIASED_NODES, MERGE_KEY
from waza_engine.spec.reading.yaml_faults import NO_BLOCK_TO_MERGE, TOO_MANY_ALIASES, sentence
from waza_language_server.analysis.problem import Problem, fault_problem
from waza_language_server.analysis.rule import FileView, Found
from waza_language_server.syntax.aliases import aliased_nodes
from waza_language_server.syntax.characters import MAX_CHARACTERS
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.tree import Tree
from waza_language_server.text.span import Span

_MERGE_KEY = compiled_later(r"<<(?=[ \t]*:)")


def syntax(view: FileView) -> Found:
    """Yield the syntax problems of a text."""
    tree = view.tree
    if tree.is_json or len(tree.text) > MAX_CHARACTERS:
        yield from syntax_faults(tree)
    elif tree.errors:
        from waza_language_server.analysis.text_rules.repairs import explained_faults

        yield from explained_faults(tree, view.kind, view.catalog)
    if MERGE_KEY in tree.text:
        yield from _nothing_to_merge(tree)
    if multiplies_itself(tree):
        yield _too_many_aliases(tree)


def _nothing_to_merge(tree: Tree) -> Iterator[Problem]:
    """Yield the values of `<<` that are no blocks; an empty one at its key."""
    if tree.root is None:
        return
    for match in _MERGE_KEY.finditer(tree.text):
        key = tree.root.at(match.start())
        entry = key.holder if key.step is None and key.value == MERGE_KEY and key.style == "plain" else None
        for node in _not_mergeable(entry.value) if entry is not None else ():
            place = node.span if len(node.span) else key.span
            yield Problem("yaml-syntax", place, sentence(NO_BLOCK_TO_MERGE))


def _not_mergeable(value: Node) -> Sequence[Node]:
    """Return the items of a list that are no blocks, or the value itself if it is an alias or neither."""
    listed = value.target.items if value.target.kind == "sequence" else (value,)
    wrong = [node for node in listed if node.target.kind in ("scalar", "sequence")]
    return (value,) if wrong and value.kind == "alias" else wrong


def multiplies_itself(tree: Tree) -> bool:
    """Return whether the aliases of a text expand to too many values for any other check."""
    if tree.root is None or not tree.anchored:
        return False
    return aliased_nodes(tree.root.green) > MAX_ALIASED_NODES


def syntax_faults(tree: Tree) -> Iterator[Problem]:
    """Yield every fault of the text unchanged: for when the schemas cannot be loaded."""
    for fault in tree.errors:
        problem = fault_problem(fault)
        # A very long file is not an error: a run may read it.
        yield problem if len(tree.text) <= MAX_CHARACTERS else replace(problem, severity="information")


def _too_many_aliases(tree: Tree) -> Problem:
    place = (
        next((node.span for node in tree.root.walk() if node.kind == "alias"), None) if tree.root else None
    )
    message = sentence(TOO_MANY_ALIASES)
    return Problem("too-many-aliases", place or Span(0, min(1, len(tree.text))), message)
