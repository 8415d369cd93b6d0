"""Keys that a mapping does not know: slips of the pen, names of other dialects, keys at the wrong level."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import groupby

from waza_engine.frozen import frozen
from waza_engine.spec.reading.scalars import resolve_scalar
from waza_engine.steps import Steps
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.schema_rules.grader_types import current_types
from waza_language_server.analysis.schema_rules.meant_scalars import key_of_other_unit, milliseconds_of
from waza_language_server.analysis.schema_rules.one_pattern import OPTION, as_one_pattern, one_pattern
from waza_language_server.analysis.schema_rules.print_signs import odd_indent
from waza_language_server.analysis.schema_rules.subject import Subject
from waza_language_server.analysis.schema_rules.wrong_values import as_block, as_list, only_text
from waza_language_server.schema.locate import grader_type
from waza_language_server.schema.shape import Shape
from waza_language_server.spelling import alike_in_words, listed, slip_of, slips_of
from waza_language_server.syntax.edits import (
    comment_out_entry,
    delete_entry,
    move_entry_into,
    move_entry_up,
    unwrap_entry,
)
from waza_language_server.syntax.nodes import Entry, Node
from waza_language_server.text.edit import Edit, Edits, Fix

_EVERYWHERE = frozenset({"name", "id", "description", "type", "tags", "value", "path", "model", "version"})
"""Keys that mean something else at every level: nobody writes them at the wrong one by mistake."""
_TYPED = frozenset({"number", "integer", "boolean"})


@frozen()
class UnknownKey:
    """An unknown key of ``mapping`` and where it should stand: at the path ``meant`` from ``home``.

    ``home`` is the mapping itself or one further up; ``meant`` is empty when nobody knows.
    """

    problem: Problem
    mapping: Node
    home: Node
    meant: tuple[str, ...]
    held: frozenset[str] = frozenset()
    """Keys below it that belong into ``mapping`` itself."""

    def stands_for(self, mapping: Node, key: str) -> bool:
        """Whether this key leaves ``key`` missing in a mapping, or the block in which it would stand."""
        if key in self.held and _place(self.mapping) == _place(mapping):
            return True
        if not self.meant:
            return False
        if _place(self.home) == _place(mapping):
            return self.meant[0] == key
        if len(self.meant) < 2 or self.meant[-1] != key:
            return False
        child = self.home.get(self.meant[0])
        return child is not None and _place(child.target) == _place(mapping)


class UnknownKeys:
    """The unknown keys of one subject, found by the place that they concern."""

    def __init__(self, keys: Iterable[UnknownKey] = ()) -> None:
        self.all = tuple(keys)
        self._by_home: dict[Place, list[UnknownKey]] = {}
        self._by_mapping: dict[Place, list[UnknownKey]] = {}
        for home, alike in groupby(self.all, key=lambda key: key.home):
            self._by_home.setdefault(_place(home), []).extend(alike)
        for mapping, alike in groupby(self.all, key=lambda key: key.mapping):
            self._by_mapping.setdefault(_place(mapping), []).extend(alike)

    def standing_for(self, mapping: Node, key: str) -> list[UnknownKey]:
        """Return the unknown keys that leave ``key`` missing in a mapping."""
        near = list(self._by_home.get(_place(mapping), ()))
        if mapping.parent is not None:
            near += self._by_home.get(_place(mapping.parent), ())
        return [each for each in near if each.stands_for(mapping, key)]

    def without_meaning(self, mapping: Node) -> list[UnknownKey]:
        """Return the unknown keys of a mapping of which nobody knows what they are meant to be."""
        return [each for each in self._by_mapping.get(_place(mapping), ()) if not each.meant]


Place = tuple[int, int, str]


def _place(node: Node) -> Place:
    return node.span.start, node.span.end, node.kind


def unknown_key(subject: Subject, mapping: Node, shape: Shape, entry: Entry) -> UnknownKey:
    """Return the problem of a key that the mapping does not know."""
    key = entry.key.value
    if not key.isascii() and (indent := odd_indent(subject, entry.key)) is not None:
        span, message, fix = indent
        return UnknownKey(Problem("yaml-indentation", span, message, "error", (fix,)), mapping, mapping, ())
    if (pattern := one_pattern(shape, entry)) is not None:
        return _alternatives(subject, mapping, shape, entry, pattern)
    if (held := _repeated_block(mapping, shape, entry)) is not None:
        return _without_repetition(subject, mapping, shape, entry, held)
    other = key_of_other_unit(key, shape.properties)
    if other is not None and mapping.entry(other[0]) is None:
        return _in_other_unit(subject, mapping, shape, entry, *other)
    return _by_its_name(subject, mapping, shape, entry)


def _by_its_name(subject: Subject, mapping: Node, shape: Shape, entry: Entry) -> UnknownKey:
    key = entry.key.value
    known = shape.misspellings.get(key)
    if known is not None and _may_be_meant(shape, known, entry):
        return _misspelt(subject, mapping, shape, entry, known, safe=key not in shape.uncertain)
    below = _level_below(subject, mapping, shape, entry)
    if below is not None:
        return _moved_down(subject, mapping, shape, entry, below)
    above = _level_above(subject, mapping, entry)
    if above is not None:
        return _moved_up(subject, mapping, shape, entry, above)
    slips = slips_of(key, shape.properties)
    if slips:
        return _misspelt(subject, mapping, shape, entry, slips[0], safe=len(slips) == 1)
    if (held := _needless_block(mapping, shape, entry)) is not None:
        return _unwrapped(subject, mapping, shape, entry, held)
    owners = _types_with_option(subject, mapping, key)
    known_keys = shape.properties

    def is_free(name: str) -> bool:
        return _may_hold(known_keys[name].shape, entry.value) and mapping.entry(name) is None

    alike = alike_in_words(key, known_keys, is_free)
    if alike is None:
        # A slip in a name that means a key elsewhere.
        alike = shape.misspellings.get(next(iter(slips_of(key, shape.misspellings)), ""))
    if alike is None or owners or not _may_be_meant(shape, alike, entry):
        return _stray(subject, mapping, shape, entry, owners)
    return _misspelt(subject, mapping, shape, entry, alike, safe=False)


def _misspelt(
    subject: Subject, mapping: Node, shape: Shape, entry: Entry, right: str, *, safe: bool
) -> UnknownKey:
    """Return the problem of a key that is written in another way; ``safe`` when that is beyond doubt."""
    message = f"{subject.name_of(mapping)} has no key `{entry.key.value}`"
    fixes: tuple[Fix, ...]
    if mapping.entry(right) is None:
        message += f"; did you mean `{right}`?"
        renaming = partial(_renaming, subject, shape, entry, right)
        fixes = (Fix(f"Change to `{right}`", renaming, preferred=safe),)
    else:
        message += f", and `{right}` is there already."
        fixes = _removals(subject, entry)
    problem = Problem("unknown-key", entry.key.span, _capital(message), shape.unknown_keys, fixes)
    return UnknownKey(problem, mapping, mapping, (right,))


def _in_other_unit(
    subject: Subject, mapping: Node, shape: Shape, entry: Entry, right: str, factor: float
) -> UnknownKey:
    """Return the problem of a key that counts in another unit; the fix counts the value anew."""
    unit = "milliseconds" if milliseconds_of(right) == 1 else "seconds"
    message = f"{subject.name_of(mapping)} has no key `{entry.key.value}`; `{right}` counts {unit}."
    value = resolve_scalar(entry.value.value) if entry.value.kind == "scalar" else None
    fixes: tuple[Fix, ...] = ()
    if isinstance(value, int | float) and not isinstance(value, bool) and (value * factor).is_integer():
        counted = str(int(value * factor))
        edits = (Edit(entry.key.span, right), Edit(entry.value.span, counted))
        fixes = (Fix(f"Change to `{right}: {counted}`", edits),)
    problem = Problem("unknown-key", entry.key.span, _capital(message), shape.unknown_keys, fixes)
    return UnknownKey(problem, mapping, mapping, (right,))


def _alternatives(subject: Subject, mapping: Node, shape: Shape, entry: Entry, pattern: str) -> UnknownKey:
    """Return the problem of a key that means "one of these", which one pattern can say."""
    shown = pattern if len(pattern) <= 60 else f"{pattern[:59]}…"
    message = f"{subject.name_of(mapping)} has no key `{entry.key.value}`; `{OPTION}: ['{shown}']` says it."
    fixes = as_one_pattern(mapping, entry, pattern)
    problem = Problem("unknown-key", entry.key.span, _capital(message), shape.unknown_keys, fixes)
    return UnknownKey(problem, mapping, mapping, (OPTION,))


def _renaming(subject: Subject, shape: Shape, entry: Entry, right: str) -> Steps[Edits]:
    """Return the edits that rename a key and give its value the form that the right key wants.

    A single value becomes a list; texts become the items of which they are the only needed key.
    """
    edits = [Edit(entry.key.span, right)]
    known, value = shape.properties.get(right), entry.value
    if known is not None and value.kind == "scalar" and len(value.span) and known.shape.wants_list:
        edits += filter(None, [as_list(subject, value, known.shape)])
    item_shape = known.shape.items if known is not None else None
    if item_shape is not None and value.kind == "sequence" and (key := only_text(item_shape)) is not None:
        for item in value.items:
            if item.kind == "scalar" and len(item.span):
                edits += filter(None, [as_block(subject, item, key)])
            yield
    return tuple(edits)


def _types_with_option(subject: Subject, mapping: Node, key: str) -> tuple[str, ...]:
    """Return the other grader types that have this option; nothing outside a grader's ``config``."""
    if not subject.is_grader or mapping.step != "config":
        return ()
    return tuple(name for name in current_types(subject.catalog) if key in subject.catalog.options_of(name))


def _stray(
    subject: Subject, mapping: Node, shape: Shape, entry: Entry, owners: tuple[str, ...]
) -> UnknownKey:
    message = f"{subject.name_of(mapping)} has no key `{entry.key.value}`"
    written = grader_type(subject.node) if subject.is_grader and mapping.step == "config" else None
    if written is not None:
        message = f"a `{written}` grader has no option `{entry.key.value}`"
    if owners:
        message += f" (one of {listed(owners[:3], 'and')} graders)"
    fixes = _removals(subject, entry)
    problem = Problem(
        "unknown-key",
        entry.key.span,
        _capital(f"{message}; {shape.unknown_key_effect}."),
        shape.unknown_keys,
        fixes,
    )
    return UnknownKey(problem, mapping, mapping, ())


def _removals(subject: Subject, entry: Entry) -> tuple[Fix, ...]:
    """Return the ways to be rid of a key; what somebody wrote under it need not be lost."""
    key, tree = entry.key.value, subject.tree
    deletion = Fix(f"Delete `{key}`", lambda: delete_entry(tree, entry))
    if not len(entry.value.span):
        return (deletion,)
    return (Fix(f"Turn `{key}` into a comment", lambda: comment_out_entry(tree, entry)), deletion)


def _level_below(subject: Subject, mapping: Node, shape: Shape, entry: Entry) -> tuple[str, str] | None:
    """Return (child key, key) when exactly one mapping below knows the key; a grader's options come first."""
    del subject, mapping
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
    return found[0] if len(found) == 1 and entry.key.value not in _EVERYWHERE else None


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
        moved = partial(move_entry_into, subject.tree, entry, mapping, child)
        fixes.append(Fix(f"Move under `{child}`", moved))
    problem = Problem("misplaced-key", entry.key.span, message, shape.unknown_keys, tuple(fixes))
    return UnknownKey(problem, mapping, mapping, (child, right))


def _level_above(subject: Subject, mapping: Node, entry: Entry) -> Node | None:
    """Return the nearest mapping above that knows the key and does not have it.

    Which keys stand around a grader is never looked at: what is found in one is kept while they change.
    """
    key = entry.key.value
    above, outside = mapping.parent, _is_grader_itself(subject, mapping)
    while above is not None:
        if above.kind == "mapping":
            shape = subject.shape_at(above)
            known = shape.properties.get(key) if shape is not None else None
            if shape is not None and known is not None and known.shape.fits(entry.value.target.kind):
                missed = key not in _EVERYWHERE or key in {*shape.required, *_advised(shape)}
                return above if missed and (outside or above.entry(key) is None) else None
        if _is_grader_itself(subject, above):
            return None
        above = above.parent
    return None


def _is_grader_itself(subject: Subject, mapping: Node) -> bool:
    return subject.is_grader and mapping.span == subject.node.span


def _moved_up(subject: Subject, mapping: Node, shape: Shape, entry: Entry, above: Node) -> UnknownKey:
    at_top = above.parent is None
    place = "at the top of the file" if at_top else f"in {subject.name_of(above)}"
    message = f"`{entry.key.value}` belongs {place}, not under {subject.name_of(mapping)}."
    title = "Move to the top of the file" if at_top else f"Move into {subject.name_of(above)}"
    fixes = (Fix(title, partial(_edits_of_move, subject, entry, above)),)
    if _is_grader_itself(subject, mapping):
        # The key may be there already, and then it cannot be moved.
        fixes += _removals(subject, entry)
    problem = Problem("misplaced-key", entry.key.span, message, shape.unknown_keys, fixes)
    return UnknownKey(problem, mapping, above, (entry.key.value,))


def _edits_of_move(subject: Subject, entry: Entry, above: Node) -> Steps[Edits]:
    if above.entry(entry.key.value) is not None:
        return ()
    return (yield from move_entry_up(subject.tree, entry, above))


def _repeated_block(mapping: Node, shape: Shape, entry: Entry) -> frozenset[str] | None:
    """Return the keys of a block that stands in a block of its own name, which knows them and has none."""
    if entry.key.value != mapping.step or entry.value.kind != "mapping" or entry.value.style == "flow":
        return None
    keys = frozenset(entry.value.key_names)
    return keys if keys <= shape.properties.keys() and keys.isdisjoint(mapping.key_names) else None


def _without_repetition(
    subject: Subject, mapping: Node, shape: Shape, entry: Entry, held: frozenset[str]
) -> UnknownKey:
    key = entry.key.value
    message = f"`{key}` stands in `{key}`; its keys belong one level further up."
    fix = Fix(f"Write `{key}:` once", partial(unwrap_entry, subject.tree, entry), preferred=True)
    problem = Problem("misplaced-key", entry.key.span, message, shape.unknown_keys, (fix,))
    return UnknownKey(problem, mapping, mapping, (), held)


def _needless_block(mapping: Node, shape: Shape, entry: Entry) -> Entry | None:
    """Return the only entry of an unknown block that the mapping around the block knows and has not."""
    entries = entry.value.entries if entry.value.kind == "mapping" else ()
    if len(entries) != 1 or entries[0].key.value in _EVERYWHERE:
        return None
    (held,) = entries
    known = shape.properties.get(held.key.value)
    if known is None or mapping.entry(held.key.value) is not None:
        return None
    return held if known.shape.fits(held.value.target.kind) else None


def _unwrapped(subject: Subject, mapping: Node, shape: Shape, entry: Entry, held: Entry) -> UnknownKey:
    place = "at the top of the file" if mapping.parent is None else f"in {subject.name_of(mapping)}"
    message = f"`{held.key.value}` belongs {place}; under `{entry.key.value}` it has no effect here."
    title = (
        "Move to the top of the file" if mapping.parent is None else f"Move into {subject.name_of(mapping)}"
    )
    fixes = (Fix(title, partial(move_entry_up, subject.tree, held, mapping)),)
    problem = Problem("misplaced-key", held.key.span, message, shape.unknown_keys, fixes)
    return UnknownKey(problem, mapping, mapping, (held.key.value,))


def _advised(shape: Shape) -> Iterator[str]:
    return (advice.key for advice in shape.recommended)


def _may_be_meant(shape: Shape, key: str, entry: Entry) -> bool:
    """Whether another name of a key is meant: by what it is called, and by what its value is."""
    known = shape.properties.get(key)
    return known is None or bool(slip_of(entry.key.value, [key])) or _may_hold(known.shape, entry.value)


def _may_hold(shape: Shape, value: Node) -> bool:
    """Whether a value may be meant for a key: a number or a switch is not meant for a list of text."""
    node = value.target
    if node.kind != "scalar" or not len(node.span):
        return node.kind != "mapping" or shape.fits("mapping")
    if not shape.takes_text(node.value):
        return False
    return not shape.types or "string" in shape.types or _typed(node) == bool(shape.types & _TYPED)


def _typed(node: Node) -> bool:
    return isinstance(node.to_python(), bool | int | float)


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
