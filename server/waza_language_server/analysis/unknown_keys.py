"""Keys that a mapping does not know: a slip of the pen, another dialect's name, or a key at the wrong level."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from waza_language_server.analysis.problem import Edit, Fix, Problem
from waza_language_server.analysis.spelling import nearest
from waza_language_server.analysis.subject import Subject
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.edits import delete_entry, move_entry_into
from waza_language_server.syntax.nodes import Entry, Node

_EVERYWHERE = frozenset({"name", "id", "description", "type", "tags", "value", "path", "model", "version"})
"""Keys that mean something else at every level: nobody writes them at the wrong one by mistake."""


@dataclass(frozen=True, slots=True)
class UnknownKey:
    """An unknown key and the place it should stand at, as a path from its own mapping; empty when nothing is near."""

    problem: Problem
    mapping: Node
    meant: tuple[str, ...]


def unknown_key(subject: Subject, mapping: Node, shape: Shape, entry: Entry) -> UnknownKey:
    """Return the problem of a key that the mapping does not know."""
    key = entry.key.value
    right = shape.misspellings.get(key)
    if right is None:
        below = _level_below(subject, mapping, shape, entry)
        if below is not None:
            return _moved_down(subject, mapping, shape, entry, below)
        above = _level_above(subject, mapping, entry)
        if above is not None:
            return _moved_up(subject, mapping, shape, entry, above)
        right = nearest(key, shape.properties)
    if right is None:
        return _stray(subject, mapping, shape, entry)
    message = f"{subject.name_of(mapping)} has no key `{key}`; did you mean `{right}`?"
    fixes: list[Fix] = []
    if mapping.entry(right) is None:
        fixes.append(Fix(f"Change to `{right}`", (Edit(entry.key.span, right),), preferred=True))
    else:
        fixes += _deletion(subject, entry)
    problem = Problem("unknown-key", entry.key.span, _capital(message), shape.unknown_keys, tuple(fixes))
    return UnknownKey(problem, mapping, (right,))


def _stray(subject: Subject, mapping: Node, shape: Shape, entry: Entry) -> UnknownKey:
    message = f"{subject.name_of(mapping)} has no key `{entry.key.value}`"
    effect = "; it has no effect." if shape.unknown_keys != "error" else "; a run refuses it."
    fixes = tuple(_deletion(subject, entry))
    problem = Problem("unknown-key", entry.key.span, _capital(message + effect), shape.unknown_keys, fixes)
    return UnknownKey(problem, mapping, ())


def _deletion(subject: Subject, entry: Entry) -> Iterator[Fix]:
    edits = delete_entry(subject.tree, entry)
    if edits:
        yield Fix(f"Delete `{entry.key.value}`", edits)


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
        edits = move_entry_into(subject.tree, entry, mapping, child)
        if edits:
            fixes.append(Fix(f"Move under `{child}`", edits, preferred=True))
    problem = Problem("misplaced-key", entry.key.span, message, shape.unknown_keys, tuple(fixes))
    return UnknownKey(problem, mapping, (child, right))


def _level_above(subject: Subject, mapping: Node, entry: Entry) -> Node | None:
    """Return the nearest mapping above that knows the key and does not have it."""
    key = entry.key.value
    above = mapping.parent
    while above is not None and key not in _EVERYWHERE:
        if above.kind == "mapping":
            shape = subject.shape_at(above)
            known = shape.properties.get(key) if shape is not None else None
            if known is not None and known.shape.fits(entry.value.target.kind):
                return above if above.entry(key) is None else None
        if subject.is_grader and above.span == subject.node.span:
            return None
        above = above.parent
    return None


def _moved_up(subject: Subject, mapping: Node, shape: Shape, entry: Entry, above: Node) -> UnknownKey:
    places = {None: "at the top of the file"} if above.parent is None else {}
    place = places.get(above.step) or f"in {subject.name_of(above)}"
    message = f"`{entry.key.value}` belongs {place}, not under {subject.name_of(mapping)}."
    edits = move_entry_into(subject.tree, entry, above, None)
    fixes = (Fix(f"Move it {place}", edits, preferred=True),) if edits else ()
    problem = Problem("misplaced-key", entry.key.span, message, shape.unknown_keys, fixes)
    return UnknownKey(problem, mapping, ())


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
