"""Mistakes that make a text unreadable: a table of kinds, each with its recogniser and its fix.

The parser reports every line that a mistake breaks. Here each kind proposes edits near a fault, the edits are
applied to a copy, and the copy is parsed. A proposal counts only if its fault disappears, no other appears,
and the keys that it moves are known where they are then. Of those that count, the one wins after which the
schemas fit best: the order of the table decides between equals.

To add a kind, write its recogniser in ``repair_kinds.py`` and add a row to ``KINDS``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import islice

from waza_engine.checkpoint import checkpoint
from waza_engine.frozen import frozen
from waza_language_server.analysis.consequences import Changes
from waza_language_server.analysis.problem import Problem, fault_problem
from waza_language_server.analysis.rule import Found
from waza_language_server.analysis.text_rules.repair_kinds import KINDS, Broken, Proposal
from waza_language_server.schema.catalog import Catalog, SchemaName
from waza_language_server.schema.locate import located_below, shape_of
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.error_sentences import is_merge_mark
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.repair import ITEM_AMONG_KEYS
from waza_language_server.syntax.tree import Tree, parse
from waza_language_server.syntax.tried_edits import apply
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

_LONGEST = 30_000
"""In characters; in a longer text every fault is reported unchanged."""
_MOST_TRIED, _FEWEST_TRIED = 60, 12
"""The most copies of a text to parse, and how many of one that is broken all over."""
_MOST_FAULTS_READ = 1_200
"""The faults of all copies together: each takes time to report again."""
_MOST_OF_KIND = 36
_MOST_FAULTS = 4
"""The most faults for which repairs are searched."""


@frozen()
class _Repair:
    """A proposal that counts: its problem, the faults that it explains, and what does not fit then."""

    problem: Problem
    explained: Sequence[SyntaxFault]
    misfits: tuple[int, int]
    """The number of faults that are left, and of values and keys that do not fit."""


def explained_faults(tree: Tree, kind: SchemaName, catalog: Catalog) -> Found:
    """Yield the syntax problems of a text: one a mistake, however many lines it breaks."""
    faults = list(_without_keys_of_both_sides(tree.text, tree.errors))
    most = min(_MOST_TRIED, max(_FEWEST_TRIED, _MOST_FAULTS_READ // max(1, len(faults))))
    left = most if len(tree.text) <= _LONGEST else 0
    for fault in faults[:_MOST_FAULTS]:
        if fault not in faults or not left:
            continue
        best: _Repair | None = None
        broken = Broken(tree, fault, kind, catalog)
        # A key that is set twice is usually just that; several are the keys of another item.
        least = _misfits(tree, broken) if fault.code == "duplicate-key" else sys.maxsize
        for proposal in _proposals(broken, left) if least or len(faults) > 1 else ():
            left -= 1
            checkpoint()
            repaired = parse(apply(tree.text, proposal.edits), tree)
            checkpoint()
            repair = _judged(broken, faults, proposal, repaired)
            if repair is None or (repair.misfits[1] >= least and len(repair.explained) == 1):
                continue
            if best is None or repair.misfits < best.misfits:
                best = repair
            if not best.misfits[1] and (proposal.is_sure or not best.misfits[0]):
                break
        if best is not None:
            yield best.problem
            explained = set(map(id, best.explained))
            faults = [each for each in faults if id(each) not in explained]
    last = ""
    for fault in faults:
        # Of consecutive items among keys only the first is reported.
        if fault.message != ITEM_AMONG_KEYS or fault.message != last:
            yield fault_problem(fault)
        last = fault.message


def _proposals(broken: Broken, most: int) -> Iterator[Proposal]:
    seen: set[tuple[Edit, ...]] = set()
    for kind in KINDS:
        if broken.fault.code not in kind.codes or (broken.fault.fixes and not kind.replaces_fixes):
            continue
        for proposal in islice(kind.recognise(broken), _MOST_OF_KIND):
            if proposal.edits and proposal.edits not in seen and len(seen) < most:
                seen.add(proposal.edits)
                yield proposal


def _judged(
    broken: Broken, faults: Sequence[SyntaxFault], proposal: Proposal, repaired: Tree
) -> _Repair | None:
    """Return the repair that a proposal is; None if it does not count."""
    moved = Changes(proposal.edits).after

    def place(fault: SyntaxFault) -> tuple[str, Span]:
        return fault.code, fault.span.shifted(moved(fault.span.start) - fault.span.start)

    left = {(fault.code, fault.span) for fault in repaired.errors}
    before = set(map(place, broken.tree.errors))
    explained = [each for each in faults if place(each) not in left]
    if left - before or broken.fault not in explained or repaired.root is None:
        return None
    if not all(_is_known(repaired, offset, broken) for offset in map(moved, proposal.keys)):
        return None
    if proposal.whole and repaired.errors:
        return None
    if _is_joined(repaired, moved(broken.fault.span.start)):
        return None
    misfits = _misfits(repaired, broken)
    fixes = (Fix(proposal.title, proposal.edits, preferred=proposal.is_sure), *proposal.others)
    problem = Problem(proposal.code, proposal.place, proposal.message, "error", fixes)
    return _Repair(problem, explained, (len(repaired.errors), misfits))


def _is_known(tree: Tree, offset: int, broken: Broken) -> bool:
    """Return whether a key is at an offset, once, in a mapping that knows it, or an item in a list."""
    node = tree.root.at(offset) if tree.root is not None else None
    around = node.parent if node is not None else None
    if node is None or around is None or node.kind != "scalar" or node.span.start != offset:
        return False
    if isinstance(node.step, int):
        item = shape_of(broken.kind, node, broken.catalog)
        return item is not None and item.fits("scalar")
    if node.step is not None or around.key_names.count(node.value) > 1:
        return False
    shape = shape_of(broken.kind, around, broken.catalog)
    return shape is not None and node.value in shape.branch("mapping").properties


def _is_joined(tree: Tree, offset: int) -> bool:
    """Return whether a line has become the end of the string above it, which repairs nothing."""
    node = tree.root.at(offset) if tree.root is not None else None
    return node is not None and node.style == "plain" and "\n" in tree.text[node.span.start : offset]


def _misfits(tree: Tree, broken: Broken) -> int:
    """Return how many things in a text do not fit its schema."""
    if tree.root is None:
        return 0
    top = broken.catalog.document(broken.kind)
    return sum(_misfits_of(node, shape) for node, shape in located_below(tree.root, top, broken.catalog))


def _misfits_of(node: Node, shape: Shape) -> int:
    """Return how many things about a value do not fit: its kind, its keys, what it lacks."""
    if not shape.fits(node.target.kind):
        return 0 if not node.value and not len(node.span) and shape.nullable else 1
    if node.kind != "mapping":
        return 0
    block = shape.branch("mapping")
    unknown = sum(name not in block.properties for name in node.key_names) if block.properties else 0
    lacks = sum(name not in node.key_names for name in (*block.required, *(r.key for r in block.recommended)))
    return unknown + lacks


def _without_keys_of_both_sides(text: str, faults: Sequence[SyntaxFault]) -> Iterator[SyntaxFault]:
    """Yield the faults without those of keys on two sides of a conflict: keeping one side repairs them."""
    marks = [fault.span.start for fault in faults if is_merge_mark(text, fault.span.start)]
    for fault in faults:
        first = fault.related[0].span.start if fault.code == "duplicate-key" and fault.related else None
        if first is None or not _are_two_sides(text, marks, first, fault.span.start):
            yield fault


def _are_two_sides(text: str, marks: Sequence[int], first: int, second: int) -> bool:
    """Return whether two offsets are on two sides of one conflict; ``marks`` are offsets of its markers."""
    before = "".join(text[mark] for mark in marks if mark < first)
    between = {text[mark] for mark in marks if first < mark < second}
    return before[-1:] in {"<", "|"} and bool(between) and between <= {"|", "="}
