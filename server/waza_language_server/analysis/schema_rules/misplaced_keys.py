"""Keys at the wrong level: further down or up, in a block of their own name, blocks at another column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby, takewhile

from waza_engine.frozen import frozen
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.schema_rules.subject import Subject
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.edits import (
    comment_out_entry,
    delete_entry,
    move_entries_into,
    move_entry_into,
    move_entry_up,
)
from waza_language_server.syntax.frames import column_of, line_start_of
from waza_language_server.syntax.nodes import Entry, Node
from waza_language_server.text.edit import Edit, Edits, Fix
from waza_language_server.text.span import Span

EVERYWHERE = frozenset({"name", "id", "description", "type", "tags", "value", "path", "model", "version"})
"""Keys with a meaning of their own at every level: they are never reported as misplaced."""
_MOST_CHILDREN = 200
"""Keys and values; all of them are searched for each key at the wrong level."""


def at_other_level(subject: Subject, mapping: Node, shape: Shape, entry: Entry) -> UnknownKey | None:
    """Return the problem of a key that a block below, or a mapping above, knows; None for any other key."""
    below = _level_below(mapping, shape, entry)
    if below is not None:
        return _moved_down(subject, mapping, shape, entry, below)
    above = _level_above(subject, mapping, entry)
    return _moved_up(subject, mapping, shape, entry, above) if above is not None else None


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


def removals(subject: Subject, entry: Entry) -> tuple[Fix, ...]:
    """Return the fixes that remove a key; its content may be preserved, in YAML as a comment."""
    key, tree = entry.key.value, subject.tree
    deletion = Fix(f"Delete `{key}`", lambda: delete_entry(tree, entry))
    if not len(entry.value.span) or tree.is_json:
        return (deletion,)
    return (Fix(f"Turn `{key}` into a comment", lambda: comment_out_entry(tree, entry)), deletion)


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


def _edits_of_move(subject: Subject, entry: Entry, above: Node) -> Edits:
    if above.entry(entry.key.value) is not None:
        return ()
    return move_entry_up(subject.tree, entry, above)


def _advised(shape: Shape) -> Iterator[str]:
    return (advice.key for advice in shape.recommended)


@frozen()
class UnknownKey:
    """An unknown key of ``mapping`` and where it should be: at the path ``intended`` from ``home``.

    ``home`` is the mapping itself or one further up; ``intended`` is empty when unknown.
    """

    problem: Problem
    mapping: Node
    home: Node
    intended: tuple[str, ...]
    held: frozenset[str] = frozenset()
    """Keys below it that belong into ``mapping`` itself."""
    cause: str = "Without it"
    """The beginning of the sentence about the consequence of the mistake."""

    def leaves_missing(self, mapping: Node, key: str) -> bool:
        """Return whether this key leaves ``key`` missing in a mapping, or the block in which it would be."""
        if key in self.held and _place(self.mapping) == _place(mapping):
            return True
        if not self.intended:
            return False
        if _place(self.home) == _place(mapping):
            return self.intended[0] == key
        if len(self.intended) < 2 or self.intended[-1] != key:
            return False
        child = self.home.get(self.intended[0])
        return child is not None and _place(child.target) == _place(mapping)


@frozen()
class OneMistake:
    """The one problem of several unknown keys of a mapping, ``keys`` in their order there."""

    unknown: UnknownKey
    keys: frozenset[str]


class UnknownKeys:
    """The unknown keys of one subject, by the place that they affect."""

    def __init__(self, keys: Iterable[UnknownKey] = ()) -> None:
        self.all = tuple(keys)
        self._by_home: dict[Place, list[UnknownKey]] = {}
        self._by_mapping: dict[Place, list[UnknownKey]] = {}
        for home, alike in groupby(self.all, key=lambda key: key.home):
            self._by_home.setdefault(_place(home), []).extend(alike)
        for mapping, alike in groupby(self.all, key=lambda key: key.mapping):
            self._by_mapping.setdefault(_place(mapping), []).extend(alike)

    def causes_of_missing(self, mapping: Node, key: str) -> list[UnknownKey]:
        """Return the unknown keys that leave ``key`` missing in a mapping."""
        near = list(self._by_home.get(_place(mapping), ()))
        if mapping.parent is not None:
            near += self._by_home.get(_place(mapping.parent), ())
        return [each for each in near if each.leaves_missing(mapping, key)]

    def without_intended_key(self, mapping: Node) -> list[UnknownKey]:
        """Return the unknown keys of a mapping for which no intended key is known."""
        return [each for each in self._by_mapping.get(_place(mapping), ()) if not each.intended]


Place = tuple[int, int, str]


def _place(node: Node) -> Place:
    return node.span.start, node.span.end, node.kind


_MOST_KEYS = 100
"""Unknown keys of a mapping; if there are more, each is reported separately."""
_MOST_CHILDREN_MOVED = 400
"""Keys and values of a mapping, which are all checked."""
_OF_GRADERS = frozenset({"type", "name", "config", "weight", "required"})


def dedented_block(
    subject: Subject, mapping: Node, shape: Shape, unexpected: Sequence[Entry]
) -> OneMistake | None:
    """Return the unknown keys of a mapping that belong into the item above them."""
    if subject.is_grader or mapping.style != "block" or not 0 < len(unexpected) <= _MOST_KEYS:
        return None
    if len(mapping.green.children) > _MOST_CHILDREN_MOVED:
        return None
    entries = mapping.entries
    first = next((at for at, each in enumerate(entries) if each.key.span == unexpected[0].key.span), 0)
    unknown = frozenset(entry.key.span for entry in unexpected)
    run = list(takewhile(lambda each: each.key.span in unknown, entries[first:]))
    if not first or not run or any(each.key.style != "plain" for each in run):
        return None
    for known, taken, column in _ends_of(subject, entries[first - 1]):
        keys = [each.key.value for each in run]
        by = column - _column_of_keys(subject.text, mapping)
        if by <= 0 or not known.issuperset(keys) or not taken.isdisjoint(keys) or len({*keys}) < len(keys):
            continue
        part = Span(run[0].key.span.start, max(run[-1].key.span.end, run[-1].value.span.end))
        edits = _moved_right(subject.text, part, by)
        below = ", with the lines below it" if len(edits) > 1 else ""
        message = f"`{keys[0]}` belongs to the item above, so indent it by {column} spaces{below}."
        fix = Fix("Align the lines" if below else "Align the line", edits)
        problem = Problem("misplaced-key", run[0].key.span, message, shape.unknown_keys, (fix,))
        return OneMistake(UnknownKey(problem, mapping, mapping, ()), frozenset(keys))
    return None


def _ends_of(subject: Subject, entry: Entry) -> Iterator[tuple[frozenset[str], frozenset[str], int]]:
    """Yield the mappings that may continue after an entry, the innermost first.

    Each has its known keys, its existing keys and their column. Only items are possible: a mapping that
    continues further to the left has a key for it.
    """
    found: list[tuple[frozenset[str], frozenset[str], int]] = []
    node: Node | None = entry.value
    within = False
    while node is not None and node.style == "block":
        if node.kind == "sequence":
            node = node.nth_child(len(node.green.children) - 1)
            within = True
            continue
        last = node.last_entry if node.kind == "mapping" else None
        if last is None:
            break
        if within:
            shape = subject.shape_at(node)
            is_grader = shape is None or shape.kind == "grader" or "config" in node.key_names
            known = frozenset(shape.properties) if shape is not None else frozenset[str]()
            known |= _OF_GRADERS if is_grader and _is_among_graders(node) else frozenset()
            column = _column_of_keys(subject.text, node)
            found.append((known, frozenset(node.key_names), column))
        node = last.value
    yield from reversed(found)


def _is_among_graders(node: Node) -> bool:
    return node.parent is not None and node.parent.step == "graders"


def _moved_right(text: str, part: Span, by: int) -> Edits:
    edits: list[Edit] = []
    at = line_start_of(text, part.start)
    while 0 <= at < part.end:
        end = text.find("\n", at)
        if text[at : end if end >= 0 else len(text)].strip():
            edits.append(Edit(Span(at, at), " " * by))
        at = end + 1 if end >= 0 else -1
    return tuple(edits)


def _column_of_keys(text: str, mapping: Node) -> int:
    first = next(mapping.each_entry())
    return column_of(text, first.key.span.start)
