"""Keys at the wrong level: further down or up, in a block of their own name, written with a dot."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from waza_engine.steps import Steps
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.schema_rules.keys.unknown_key import UnknownKey
from waza_language_server.analysis.schema_rules.subject import Subject
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.author_style import line_break
from waza_language_server.syntax.edits import (
    comment_out_entry,
    delete_entry,
    insert_entry,
    move_entries_into,
    move_entry_into,
    move_entry_up,
    unwrap_entry,
)
from waza_language_server.syntax.frames import column_of
from waza_language_server.syntax.nodes import Entry, Node
from waza_language_server.syntax.placed_text import value_text
from waza_language_server.text.edit import Edit, Edits, Fix
from waza_language_server.text.span import Span

_MOST_BESIDE = 50
EVERYWHERE = frozenset({"name", "id", "description", "type", "tags", "value", "path", "model", "version"})
"""Keys with a meaning of their own at every level: they are never reported as misplaced."""
_MOST_CHILDREN = 200
"""Keys and values; all of them are searched for each key at the wrong level."""


def in_own_block(subject: Subject, mapping: Node, shape: Shape, entry: Entry) -> UnknownKey | None:
    """Return the problem of a block nested in a block of its own name; None for any other key."""
    held = _repeated_block(mapping, shape, entry)
    return _without_repetition(subject, mapping, shape, entry, held) if held is not None else None


def written_with_dot(subject: Subject, mapping: Node, shape: Shape, entry: Entry) -> UnknownKey | None:
    """Return the problem of a key such as `inputs.prompt`; None for any other key."""
    path = _dotted(shape, entry)
    return _in_dots(subject, mapping, shape, entry, path) if path is not None else None


def at_other_level(subject: Subject, mapping: Node, shape: Shape, entry: Entry) -> UnknownKey | None:
    """Return the problem of a key that a block below, or a mapping above, knows; None for any other key."""
    below = _level_below(mapping, shape, entry)
    if below is not None:
        return _moved_down(subject, mapping, shape, entry, below)
    above = _level_above(subject, mapping, entry)
    return _moved_up(subject, mapping, shape, entry, above) if above is not None else None


def in_needless_block(subject: Subject, mapping: Node, shape: Shape, entry: Entry) -> UnknownKey | None:
    """Return the problem of an unknown block around a key that the mapping knows; None for any other key."""
    held = _needless_block(mapping, shape, entry)
    return _unwrapped(subject, mapping, shape, entry, held) if held is not None else None


def _without_repetition(
    subject: Subject, mapping: Node, shape: Shape, entry: Entry, held: frozenset[str]
) -> UnknownKey:
    key = entry.key.value
    message = f"`{key}` stands in `{key}`; its keys belong one level further up."
    fix = Fix(f"Write `{key}:` once", partial(unwrap_entry, subject.tree, entry), preferred=True)
    problem = Problem("misplaced-key", entry.key.span, message, shape.unknown_keys, (fix,))
    return UnknownKey(problem, mapping, mapping, (), held)


def _in_dots(
    subject: Subject, mapping: Node, shape: Shape, entry: Entry, path: tuple[str, str]
) -> UnknownKey:
    outer, inner = path
    message = f"`{entry.key.value}` is one key for YAML; write `{inner}` below `{outer}`."
    fixes: tuple[Fix, ...] = ()
    block = mapping.entry(outer)
    if mapping.style == "block" and entry.key.style == "plain":
        if block is None:
            repair = partial(_below, subject, mapping, shape, entry, outer)
            fixes = (Fix(f"Write `{outer}` as a block", repair, preferred=True),)
        elif block.value.kind == "mapping" and inner not in block.value.key_names:
            repair = partial(_into, subject, mapping, entry, block, inner)
            fixes = (Fix(f"Move `{inner}` into `{outer}`", repair, preferred=True),)
    problem = Problem("unknown-key", entry.key.span, message, shape.unknown_keys, fixes)
    return UnknownKey(problem, mapping, mapping, path, frozenset({outer}))


def _moved_down(
    subject: Subject, mapping: Node, shape: Shape, entry: Entry, place: tuple[str, str]
) -> UnknownKey:
    child, right = place
    renamed = f" and is called `{right}`" if right != entry.key.value else ""
    message = f"`{entry.key.value}` belongs under `{child}`{renamed}."
    target = mapping.get(child)
    taken = target is not None and target.get(right) is not None
    fixes: list[Fix] = []
    if not taken and right == entry.key.value:
        known = shape.properties[child].shape.branch("mapping").properties[right].shape
        moved = partial(
            move_entry_into,
            subject.tree,
            entry,
            mapping,
            child,
            as_item=known.wants_list and _is_line(subject, entry),
        )
        fixes.append(Fix(f"Move under `{child}`", moved))
        others = _stray_siblings(mapping, shape, child)
        if len(others) > 1:
            all_moved = partial(move_entries_into, subject.tree, others, mapping, child)
            fix_of_all = Fix(f"Move all {len(others)} keys under `{child}`", all_moved)
            # An empty block should have contained them all.
            is_empty = target is not None and not len(target.span)
            fixes.insert(0 if is_empty else 1, fix_of_all)
    problem = Problem("misplaced-key", entry.key.span, message, shape.unknown_keys, tuple(fixes))
    return UnknownKey(problem, mapping, mapping, (child, right))


def _moved_up(subject: Subject, mapping: Node, shape: Shape, entry: Entry, above: Node) -> UnknownKey:
    at_top = above.parent is None
    place = "at the top of the file" if at_top else f"in {subject.name_of(above)}"
    message = f"`{entry.key.value}` belongs {place}, not under {subject.name_of(mapping)}."
    title = "Move to the top of the file" if at_top else f"Move into {subject.name_of(above)}"
    fixes = (Fix(title, partial(_edits_of_move, subject, entry, above)),)
    if _is_grader_itself(subject, mapping):
        # The key may exist already, and then it cannot be moved.
        fixes += removals(subject, entry)
    problem = Problem("misplaced-key", entry.key.span, message, shape.unknown_keys, fixes)
    return UnknownKey(problem, mapping, above, (entry.key.value,))


def _unwrapped(subject: Subject, mapping: Node, shape: Shape, entry: Entry, held: Entry) -> UnknownKey:
    place = "at the top of the file" if mapping.parent is None else f"in {subject.name_of(mapping)}"
    message = f"`{held.key.value}` belongs {place}; under `{entry.key.value}` it has no effect here."
    title = (
        "Move to the top of the file" if mapping.parent is None else f"Move into {subject.name_of(mapping)}"
    )
    fixes = (Fix(title, partial(move_entry_up, subject.tree, held, mapping)),)
    problem = Problem("misplaced-key", held.key.span, message, shape.unknown_keys, fixes)
    return UnknownKey(problem, mapping, mapping, (held.key.value,))


def removals(subject: Subject, entry: Entry) -> tuple[Fix, ...]:
    """Return the fixes that remove a key; its content may be preserved."""
    key, tree = entry.key.value, subject.tree
    deletion = Fix(f"Delete `{key}`", lambda: delete_entry(tree, entry))
    if not len(entry.value.span):
        return (deletion,)
    return (Fix(f"Turn `{key}` into a comment", lambda: comment_out_entry(tree, entry)), deletion)


def _repeated_block(mapping: Node, shape: Shape, entry: Entry) -> frozenset[str] | None:
    """Return the keys of a block nested in a block of its own name, which knows them and has none."""
    if entry.key.value != mapping.step or entry.value.kind != "mapping" or entry.value.style == "flow":
        return None
    keys = frozenset(entry.value.key_names)
    return keys if keys <= shape.properties.keys() and keys.isdisjoint(mapping.key_names) else None


def _dotted(shape: Shape, entry: Entry) -> tuple[str, str] | None:
    """Return the two keys of a dotted path that the mapping knows, as other notations write it."""
    outer, dot, inner = entry.key.value.partition(".")
    known = shape.properties.get(outer) if dot else None
    return (outer, inner) if known is not None and inner in known.shape.branch("mapping").properties else None


def _below(subject: Subject, mapping: Node, shape: Shape, entry: Entry, outer: str) -> Edits:
    """Return the edits that split a key at its dot, with the keys next to it that belong into the same block.

    Continuation lines of their values move with them.
    """
    text = subject.text
    margin = " " * (column_of(text, entry.key.span.start) + 2)
    edits: list[Edit] = []
    for each, inner in _beside_in_dots(mapping, shape, entry, outer):
        head = f"  {inner}" if edits else f"{outer}:{line_break(text)}{margin}{inner}"
        edits.append(Edit(each.key.span, head))
        at = text.find("\n", each.key.span.end, each.value.span.end) + 1
        while at:
            if text[at : at + 1] not in {"\r", "\n"}:
                edits.append(Edit(Span(at, at), "  "))
            at = text.find("\n", at, each.value.span.end) + 1
    return tuple(edits)


def _beside_in_dots(mapping: Node, shape: Shape, entry: Entry, outer: str) -> Iterator[tuple[Entry, str]]:
    """Yield the keys around one, itself included, that belong into one block according to their dot."""
    entries = mapping.entries
    index = entries.index(entry)
    first = last = index
    while first > max(0, index - _MOST_BESIDE) and _is_in(shape, entries[first - 1], outer):
        first -= 1
    while last + 1 < min(len(entries), index + _MOST_BESIDE) and _is_in(shape, entries[last + 1], outer):
        last += 1
    for each in entries[first : last + 1]:
        yield each, each.key.value.partition(".")[2]


def _is_in(shape: Shape, entry: Entry, outer: str) -> bool:
    path = _dotted(shape, entry) if entry.key.style == "plain" else None
    return path is not None and path[0] == outer


def _into(subject: Subject, mapping: Node, entry: Entry, block: Entry, inner: str) -> Steps[Edits]:
    value = value_text(subject.text, mapping, entry)
    inserted = yield from insert_entry(subject.tree, block.value, inner, value)
    deleted = yield from delete_entry(subject.tree, entry)
    return (*inserted, *deleted) if inserted and deleted else ()


def _level_below(mapping: Node, shape: Shape, entry: Entry) -> tuple[str, str] | None:
    """Return (child key, key) if exactly one mapping below knows the key; a grader's options come first.

    The empty block directly above the key comes before all others.
    """
    emptied = _emptied_above(mapping, shape, entry)
    if emptied is not None:
        return emptied, entry.key.value
    found: list[tuple[str, str]] = []
    for name, child in shape.properties.items():
        block = child.shape.branch("mapping")
        right = block.misspellings.get(entry.key.value, entry.key.value)
        known = block.properties.get(right)
        if known is not None and known.shape.fits(entry.value.target.kind):
            found.append((name, right))
    options = [place for place in found if place[0] == "config"]
    if options:
        return options[0]
    return found[0] if len(found) == 1 and entry.key.value not in EVERYWHERE else None


def _emptied_above(mapping: Node, shape: Shape, entry: Entry) -> str | None:
    """Return the empty key directly above a key that it knows."""
    if mapping.style != "block" or len(mapping.green.children) > _MOST_CHILDREN:
        return None
    emptied: str | None = None
    for each in mapping.each_entry():
        if each.key.span == entry.key.span:
            break
        if each.key.value in shape.properties:
            is_empty = not len(each.value.span) and each.value.green.anchor is None
            emptied = each.key.value if is_empty else None
    if emptied is None:
        return None
    known = shape.properties[emptied].shape.branch("mapping").properties.get(entry.key.value)
    return emptied if known is not None and known.shape.fits(entry.value.target.kind) else None


def _stray_siblings(mapping: Node, shape: Shape, child: str) -> tuple[Entry, ...]:
    """Return the entries that a mapping does not know and the block below knows under the same name."""
    if mapping.style != "block" or len(mapping.green.children) > _MOST_CHILDREN:
        return ()
    target = mapping.get(child)
    return tuple(
        entry
        for entry in mapping.each_entry()
        if entry.key.value not in shape.properties
        and _level_below(mapping, shape, entry) == (child, entry.key.value)
        and (target is None or target.get(entry.key.value) is None)
    )


def _is_line(subject: Subject, entry: Entry) -> bool:
    """Return whether the value of an entry is one string or number on one line."""
    span = entry.value.span
    return entry.value.kind == "scalar" and bool(span) and "\n" not in subject.text[span.start : span.end]


def _level_above(subject: Subject, mapping: Node, entry: Entry) -> Node | None:
    """Return the nearest mapping above that knows the key and does not have it.

    The keys around a grader are never read: the results for a grader stay cached while they change.
    """
    key = entry.key.value
    above, outside = mapping.parent, _is_grader_itself(subject, mapping)
    while above is not None:
        if above.kind == "mapping":
            shape = subject.shape_at(above)
            known = shape.properties.get(key) if shape is not None else None
            if shape is not None and known is not None and known.shape.fits(entry.value.target.kind):
                missed = key not in EVERYWHERE or key in {*shape.required, *_advised(shape)}
                return above if missed and (outside or above.entry(key) is None) else None
        if _is_grader_itself(subject, above):
            return None
        above = above.parent
    return None


def _is_grader_itself(subject: Subject, mapping: Node) -> bool:
    return subject.is_grader and mapping.span == subject.node.span


def _edits_of_move(subject: Subject, entry: Entry, above: Node) -> Steps[Edits]:
    if above.entry(entry.key.value) is not None:
        return ()
    return (yield from move_entry_up(subject.tree, entry, above))


def _needless_block(mapping: Node, shape: Shape, entry: Entry) -> Entry | None:
    """Return the only entry of an unknown block that the mapping around it knows and does not have."""
    block = entry.value
    held = block.last_entry if len(block.green.children) == 2 else None
    if held is None or held.key.value in EVERYWHERE:
        return None
    known = shape.properties.get(held.key.value)
    if known is None or mapping.entry(held.key.value) is not None:
        return None
    return held if known.shape.fits(held.value.target.kind) else None


def _advised(shape: Shape) -> Iterator[str]:
    return (advice.key for advice in shape.recommended)
