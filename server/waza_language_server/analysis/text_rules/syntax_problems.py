"""Syntax errors as problems: one for each typo, however many lines it breaks.

A forgotten dash, or an over-indented line, makes the lines around it unparsable in their turn. The parser
reports each of them; here a typo is repaired in a copy, and faults that disappear with it are not reported.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice

from waza_engine.later_patterns import compiled_later
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.rule import Found
from waza_language_server.analysis.text_rules.block_texts import tabbed_text, text_at_margin
from waza_language_server.analysis.text_rules.change_marks import change_mark
from waza_language_server.analysis.text_rules.fallen_bodies import (
    fallen_body,
    first_block_pushed,
    first_items_pushed,
)
from waza_language_server.analysis.text_rules.fault_fixes import LONGEST, with_fixes, without_unread_anchors
from waza_language_server.analysis.text_rules.joined_lines import (
    JoinedLine,
    is_line_of_its_own,
    joined_lines,
    joined_with_outer,
)
from waza_language_server.analysis.text_rules.known_keys import blocks_of, keys_of, texts_of
from waza_language_server.analysis.text_rules.lost_bars import (
    lost_bar,
    plain_text_at_margin,
    quoted_text_at_margin,
)
from waza_language_server.analysis.text_rules.lost_dashes import (
    NO_DASH,
    dash_of_first_key,
    first_item_without_dash,
    items_without_dashes,
    key_at_dashes,
    missing_dash,
    needless_dash,
    repeats_first_key,
    repeats_keys_of_item,
    stray_dash,
    texts_without_dashes,
)
from waza_language_server.analysis.text_rules.lost_keys import lost_first_key
from waza_language_server.analysis.text_rules.lost_places import (
    first_text_without_dash,
    key_too_far_left,
    quote_before_key,
    value_below_key,
)
from waza_language_server.analysis.text_rules.lost_signs import LostSign, lost_signs
from waza_language_server.analysis.text_rules.merge_marks import without_keys_of_both_sides
from waza_language_server.analysis.text_rules.needless_brackets import needless_brackets
from waza_language_server.analysis.text_rules.notes import foreign_notes, sentence
from waza_language_server.analysis.text_rules.odd_bullets import odd_bullet
from waza_language_server.analysis.text_rules.plain_text import LIKE_A_BAR, blocks_meant
from waza_language_server.analysis.text_rules.pushed_lines import (
    block_below_value,
    is_at_known_key,
    pushed_keys,
    pushed_lines,
    pushed_rest,
)
from waza_language_server.analysis.text_rules.shifted_lines import (
    dash_at_its_keys,
    dash_before_others,
    rest_of_item,
    shifted_items,
    tabbed_lines,
    text_of_deeper_list,
)
from waza_language_server.analysis.text_rules.slip import Slip
from waza_language_server.analysis.text_rules.swapped_lines import swapped_lines
from waza_language_server.analysis.text_rules.written_lines import KEY_WITHOUT_DASH
from waza_language_server.schema.catalog import Catalog, SchemaName
from waza_language_server.schema.locate import shape_at
from waza_language_server.syntax.fault import SyntaxFault
from waza_language_server.syntax.repair import ITEM_AMONG_KEYS
from waza_language_server.syntax.tree import Tree, parse_in_steps
from waza_language_server.syntax.tried_edits import apply
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.line_index import LineIndex
from waza_language_server.text.span import Span

_GLUED_DASH = compiled_later(r"[ \t]*-(?=(?:[A-Za-z_]\w*:(?:[ \t]|$)|[\"'].*[\"'][ \t]*$))")
_DASH_AND_TEXT = compiled_later(r"[ ]*-(?=[^\s-])")
_DASHES = compiled_later(r"(?:-[ ]+)+")
_KEY_TWICE = compiled_later(r"[ ]*(?:-[ ]+)*(?P<key>[A-Za-z_][\w-]*):[ \t]+(?P=key):(?=[ \t\r\n]|\Z)")
_COLUMN_CODES = frozenset({"yaml-indentation", "yaml-tab"})
_TRIALS = 10
_SLIPS_TRIED = 16


def explained_faults(tree: Tree, kind: SchemaName, catalog: Catalog) -> Found:
    """Yield the syntax problems of a text, with pauses."""
    faults = without_unread_anchors(tree.text, tree.errors)
    keys = keys_of(kind, catalog) if faults else frozenset[str]()
    if faults and len(tree.text) <= LONGEST:
        for slip in islice(_slips(tree, kind, catalog), _SLIPS_TRIED):
            yield None
            repaired = yield from parse_in_steps(apply(tree.text, (slip.edit,)), tree)
            yield None
            explained = _explained(tree, faults, repaired, slip.edit)
            if not explained:
                continue
            if slip.joined is not None and not is_line_of_its_own(slip.joined, repaired, kind, catalog):
                continue
            known_at = () if slip.known_at is None else (slip.known_at, *slip.also_known)
            if not all(_surely_known(repaired, at, kind, catalog) for at in known_at):
                continue
            if slip.cures is not None and any(
                slip.cures.start <= fault.span.start <= slip.cures.end and fault not in explained
                for fault in faults
            ):
                continue
            column = slip.edit.span.start + len(slip.edit.text) if slip.moved_to is None else slip.moved_to
            if slip.moves and _hides_key(repaired, column, keys):
                continue
            if not slip.moves or (len(explained) == len(faults) and _known(repaired, column, kind, catalog)):
                yield slip.problem
                faults = [fault for fault in faults if fault not in explained]
    for fault in _each_once(without_keys_of_both_sides(tree.text, faults)):
        yield with_fixes(tree, fault)


def _each_once(faults: Iterable[SyntaxFault]) -> Iterator[SyntaxFault]:
    """Yield faults; of consecutive items among keys only the first."""
    last: SyntaxFault | None = None
    for fault in faults:
        if last is None or fault.message != ITEM_AMONG_KEYS or fault.message != last.message:
            yield fault
        last = fault


def _known(tree: Tree, offset: int, kind: SchemaName, catalog: Catalog) -> bool:
    """Return whether the key at an offset is known to its mapping, or a string in a list that allows any."""
    dashes = _DASHES.match(tree.text, offset)
    key = tree.root.at(offset if dashes is None else dashes.end()) if tree.root is not None else None
    if key is None or key.parent is None or key.kind != "scalar":
        return True
    if key.step is not None:
        item = shape_at(kind, key.path, tree.root, catalog)
        return item is None or item.types != frozenset({"object"})
    shape = shape_at(kind, key.parent.path, tree.root, catalog)
    return shape is None or not shape.properties or key.value in shape.properties


def _hides_key(tree: Tree, offset: int, known: Container[str]) -> bool:
    """Return whether a ``known`` key at an offset is parsed as a part of the text that begins above it."""
    key = KEY_WITHOUT_DASH.match(tree.text, offset)
    node = tree.root.at(offset) if tree.root is not None and key is not None and key["key"] in known else None
    return node is not None and node.kind == "scalar" and node.span.start < offset


def _surely_known(tree: Tree, offset: int, kind: SchemaName, catalog: Catalog) -> bool:
    """Return whether a key is at an offset, once, in a mapping that knows it."""
    key = tree.root.at(offset) if tree.root is not None else None
    if key is None or key.parent is None or key.kind != "scalar" or key.step is not None:
        return False
    if key.parent.key_names.count(key.value) > 1:
        return False
    shape = shape_at(kind, key.parent.path, tree.root, catalog)
    return shape is not None and key.value in shape.properties


def _explained(tree: Tree, faults: Sequence[SyntaxFault], repaired: Tree, edit: Edit) -> list[SyntaxFault]:
    """Return the faults that disappear with an edit; none if it adds others."""
    longer = len(edit.text) - len(edit.span)
    left = {(fault.code, fault.span) for fault in repaired.errors}
    before = {(fault.code, _moved(fault.span, edit, longer)) for fault in tree.errors}
    if left - before:
        return []
    return [fault for fault in faults if (fault.code, _moved(fault.span, edit, longer)) not in left]


def _moved(span: Span, edit: Edit, longer: int) -> Span:
    return span.shifted(longer) if span.start >= edit.span.end else span


def _slips(tree: Tree, kind: SchemaName, catalog: Catalog) -> Iterator[Slip]:
    """Yield possible mistakes, the surest first."""
    lines, blocks, keys = LineIndex(tree.text), blocks_of(kind, catalog), keys_of(kind, catalog)
    faults = tree.errors
    texts = texts_of(kind, catalog)
    yield from chain.from_iterable(lost_bar(tree.text, lines, each, texts) for each in faults[:_TRIALS])
    yield from chain.from_iterable(
        quoted_text_at_margin(tree.text, lines, each, texts) for each in faults[:1]
    )
    yield from chain.from_iterable(change_mark(tree.text, lines, each) for each in faults[:_TRIALS])
    yield from chain.from_iterable(odd_bullet(tree.text, lines, each, texts) for each in faults[:_TRIALS])
    yield from chain.from_iterable(swapped_lines(tree.text, lines, each) for each in faults[:1])
    for fault in faults:
        yield from _glued_dash(tree.text, lines, lines.line_of(fault.span.start))
    outside = catalog.document_root(kind).top.properties
    yield from _beside_lines(tree.text, lines, faults, outside, keys)
    for fault in faults[:_TRIALS]:
        yield from _lost_signs(lost_signs(tree.text, lines, fault, kind, catalog), fault)
        # If the line parses with it, an item is due.
        yield from _glued_dash(tree.text, lines, lines.line_of(fault.span.start), any_text=True)
    yield from tabbed_lines(tree.text, lines, faults, keys)
    for fault in faults[:_TRIALS]:
        yield from tabbed_text(tree.text, lines, fault)
        yield from text_at_margin(tree.text, lines, fault, keys)
    # The mistake only shows below it, when a dash makes another key of the line.
    above = (max(0, lines.line_of(fault.span.start) - 1) for fault in faults[:_TRIALS])
    yield from chain.from_iterable(_glued_dash(tree.text, lines, each) for each in above)
    yield from _items(tree, lines, faults, kind, catalog)
    for fault in faults[:_TRIALS]:
        yield from _repeated_key(tree.text, lines, fault)
        yield from items_without_dashes(tree, fault, kind, catalog)
        yield from texts_without_dashes(tree, lines, fault, kind, catalog)
    for fault in faults[:_TRIALS]:
        yield from _joined_lines(tree.text, joined_lines(tree.text, lines, fault), fault)
    for fault in faults[:_TRIALS]:
        joined = joined_with_outer(tree.text, lines, fault, blocks)
        yield from _joined_lines(tree.text, joined, fault)
    for fault in faults[:_TRIALS]:
        yield from _plain_text(tree.text, lines, fault, keys)
    yield from pushed_keys(tree.text, lines, faults, blocks)
    yield from chain.from_iterable(plain_text_at_margin(tree.text, lines, each, texts) for each in faults[:1])
    yield from chain.from_iterable(needless_dash(tree.text, lines, fault) for fault in faults[:1])
    yield from chain.from_iterable(stray_dash(tree.text, lines, fault, keys) for fault in faults[:1])
    for fault in faults:
        if fault.message == NO_DASH or repeats_first_key(tree.text, lines, fault):
            yield from missing_dash(tree.text, lines, fault)
    again = [fault for fault in faults[:_TRIALS] if repeats_keys_of_item(tree, fault)]
    yield from chain.from_iterable(missing_dash(tree.text, lines, fault) for fault in again)
    if any(fault.code in _COLUMN_CODES for fault in faults) or is_at_known_key(
        tree.text, lines, faults, keys
    ):
        yield from pushed_lines(tree.text, lines, faults[0])
    yield from _least_sure(tree.text, lines, faults, keys)


def _least_sure(
    text: str, lines: LineIndex, faults: Sequence[SyntaxFault], keys: Container[str]
) -> Iterator[Slip]:
    for fault in faults[:1]:
        yield from pushed_rest(text, lines, fault)
    for fault in faults[:_TRIALS]:
        yield from sentence(text, lines, fault, keys)


def _beside_lines(
    text: str,
    lines: LineIndex,
    faults: Sequence[SyntaxFault],
    outside: Container[str],
    keys: Container[str],
) -> Iterator[Slip]:
    """Yield repairs of lines that are mixed up with the line next to them, or with the quote before them."""
    for fault in faults[:1]:
        yield from needless_brackets(text, lines, fault)
        yield from block_below_value(text, lines, fault, outside)
        yield from fallen_body(text, lines, fault, outside)
        yield from key_too_far_left(text, lines, fault, outside)
    for fault in faults[:_TRIALS]:
        yield from foreign_notes(text, lines, fault, keys)
        yield from quote_before_key(text, lines, fault)
        yield from value_below_key(text, lines, fault)
        yield from first_text_without_dash(text, lines, fault)


def _items(
    tree: Tree, lines: LineIndex, faults: Sequence[SyntaxFault], kind: SchemaName, catalog: Catalog
) -> Iterator[Slip]:
    """Yield items that are at another column, or lack their dash or their first key."""
    # They repair all syntax errors.
    for fault in faults[:1]:
        yield from first_block_pushed(tree.text, lines, fault)
        yield from first_items_pushed(tree.text, lines, fault, surely=True)
        if fault.message == NO_DASH:
            yield from shifted_items(tree.text, lines, fault, outside=True)
        yield from shifted_items(tree.text, lines, fault)
        yield from first_items_pushed(tree.text, lines, fault)
        yield from text_of_deeper_list(tree.text, lines, fault)
        yield from dash_before_others(tree.text, lines, fault)
        yield from dash_at_its_keys(tree.text, lines, fault)
        yield from rest_of_item(tree.text, lines, fault)
        yield from key_at_dashes(tree.text, lines, fault)
        yield from first_item_without_dash(tree.text, lines, fault)
    for fault in faults[:2]:
        yield from dash_of_first_key(tree.text, lines, fault)
    for fault in faults[:_TRIALS]:
        yield from lost_first_key(tree, fault, kind, catalog)


def _glued_dash(text: str, lines: LineIndex, number: int, *, any_text: bool = False) -> Iterator[Slip]:
    """Yield the missing space after a dash, before ``any_text`` or before text that is not valid alone."""
    line = lines.line_span(number)
    match = (_DASH_AND_TEXT if any_text else _GLUED_DASH).match(text[line.start : line.end])
    if match is not None:
        at = line.start + match.end()
        edit = Edit(Span(at, at), " ")
        fix = Fix("Add a space after the dash", (edit,), preferred=True)
        message = "A space is missing after the dash of this list item."
        yield Slip(Problem("yaml-syntax", Span(at - 1, at), message, "error", (fix,)), edit)


def _repeated_key(text: str, lines: LineIndex, fault: SyntaxFault) -> Iterator[Slip]:
    number = lines.line_of(fault.span.start)
    above = (lines.line_span(line) for line in range(number, max(-1, number - _TRIALS), -1))
    found = ((line, _KEY_TWICE.match(text, line.start, line.end)) for line in above)
    line, match = next(((line, match) for line, match in found if match is not None), (None, None))
    if line is None or match is None:
        return
    key = match["key"]
    edit = Edit(Span(match.end("key") + 1, match.end()), "")
    # Before a value it may be the beginning of a string.
    is_bare = not text[match.end() : line.end].strip()
    fix = Fix(f"Write `{key}:` once", (edit,), preferred=is_bare)
    place = Span(match.end() - len(key) - 1, match.end())
    others = tuple(replace(each, preferred=False) for each in fault.fixes)
    problem = Problem("yaml-syntax", place, f"`{key}:` stands twice on this line.", "error", (fix, *others))
    yield Slip(problem, edit)


def _lost_signs(found: Iterator[LostSign], fault: SyntaxFault) -> Iterator[Slip]:
    for lost in found:
        # YAML's interpretation is less likely than the keys of a suite.
        others = tuple(replace(each, preferred=False) for each in fault.fixes)
        fixes = (Fix(lost.title, (lost.edit,)), *others)
        problem = Problem(lost.code, lost.place, lost.message, "error", fixes)
        yield Slip(problem, lost.edit, known_at=lost.known_at)


def _joined_lines(text: str, found: Iterator[JoinedLine], fault: SyntaxFault) -> Iterator[Slip]:
    for joined in found:
        written = text[joined.place.start : joined.place.end]
        where = f" below `{joined.holder}`" if joined.below else ""
        fix = Fix("Start a new line here", (joined.edit,), preferred=joined.below)
        others = () if joined.below else tuple(replace(each, preferred=False) for each in fault.fixes)
        message = f"`{written}` needs a line of its own{where}."
        if written == "-":
            message = f"The list of `{joined.holder}` starts on a line of its own, below the key."
        problem = Problem("yaml-syntax", joined.place, message, "error", (fix, *others))
        yield Slip(problem, joined.edit, joined=joined)


def _plain_text(text: str, lines: LineIndex, fault: SyntaxFault, known: Collection[str]) -> Iterator[Slip]:
    for place, edit, is_sure in blocks_meant(text, lines, fault, known):
        if (letter := text[place.start : place.end]) in LIKE_A_BAR:
            bar = Edit(place, "|")
            fixes = (
                Fix(f"Write `|` for `{letter}`", (bar,)),
                Fix("Write the text as a block with `>-`", (edit,)),
            )
            message = f"`{letter}` begins no block of text; write `|`, which keeps the lines below."
            yield Slip(Problem("yaml-syntax", place, message, "error", fixes), bar)
        fix = Fix("Write the text as a block with `>-`", (edit,), preferred=is_sure)
        message = "This text has `: ` in it, so its lines are read as keys; write it as a block with `>-`."
        yield Slip(Problem("yaml-syntax", place, message, "error", (fix,)), edit)
