"""Decisions whether an unknown key of a mapping is intended as another key, by names and by the value."""

from __future__ import annotations

from itertools import islice

from waza_engine.spec.reading.scalars import resolve_scalar
from waza_language_server.analysis.schema_rules.scalar_coercions import as_number
from waza_language_server.schema.shape import Shape
from waza_language_server.spelling import slip_of, slips_of
from waza_language_server.syntax.nodes import Entry, Node

LOOKED_AT = 100
"""How many keys next to one are checked that may reverse its meaning."""
_TYPED = frozenset({"number", "integer", "boolean"})


def is_rather_slip(mapping: Node, shape: Shape, entry: Entry, known: str) -> bool:
    """Return whether a name with another meaning is, by its value, rather a typo of a missing key."""
    slip = slip_of(entry.key.value, shape.properties)
    if slip is None or slip == known or known not in shape.properties or mapping.entry(slip) is not None:
        return False
    fits, other = (_fits_as_it_is(shape.properties[key].shape, entry.value) for key in (slip, known))
    return fits and not other


def is_other_name(mapping: Node, shape: Shape, entry: Entry, known: str) -> bool:
    """Return whether a key is only another name of ``known``: a typo, or a key whose value fits unchanged.

    Other unknown keys next to it may reverse its meaning, as `should_match: false` next to `pattern`.
    """
    if slip_of(entry.key.value, [known]):
        return True
    right = shape.properties.get(known)
    fits = right is not None and _fits_as_it_is(right.shape, entry.value)
    return fits and all(_has_meaning(shape, other) for other in islice(mapping.each_entry(), LOOKED_AT))


def may_become(shape: Shape, node: Node) -> bool:
    """Return whether a value fits, or may after a repair: several items, or keys, become no single value."""
    only_one = not shape.fits("mapping") and not shape.fits("sequence")
    return not only_one or node.kind == "scalar" or (node.kind == "sequence" and len(node.items) == 1)


def may_be_meant(shape: Shape, key: str, entry: Entry) -> bool:
    """Return whether another key is probably intended, by the name and by the type of the value."""
    known = shape.properties.get(key)
    if known is None or bool(slip_of(entry.key.value, [key])) or may_hold(known.shape, entry.value):
        return True
    return meant_number_of(key, known.shape, entry.value) is not None


def meant_number_of(key: str, shape: Shape, value: Node) -> str | None:
    """Return the number that a string means as the value of a key: `4m` is 240 seconds."""
    if value.kind != "scalar" or "string" in shape.types or shape.types.isdisjoint({"integer", "number"}):
        return None
    if not isinstance(resolve_scalar(value.value), str):
        return None
    meant = as_number(value.value, key, shape, whole="number" not in shape.types)
    return meant.value if meant is not None else None


def may_hold(shape: Shape, value: Node) -> bool:
    """Return whether a value may be intended for a key: for a list of strings a number or a switch is not."""
    node = value.target
    if node.kind != "scalar" or not len(node.span):
        return node.kind != "mapping" or shape.fits("mapping")
    plain = node.to_python()
    if isinstance(plain, bool) and "boolean" in shape.types:
        return True
    if not shape.takes_text(node.value):
        return False
    typed = isinstance(plain, bool | int | float)
    return not shape.types or "string" in shape.types or typed == bool(shape.types & _TYPED)


def _fits_as_it_is(shape: Shape, value: Node) -> bool:
    is_single = value.target.kind == "scalar" and len(value.span) > 0
    return shape.fits(value.target.kind) and not (is_single and shape.wants_list)


def _has_meaning(shape: Shape, entry: Entry) -> bool:
    """Return whether a key is known, or another name or a misspelling of one that may have its value."""
    key = entry.key.value
    if key in shape.properties or slips_of(key, shape.properties):
        return True
    meant = shape.misspellings.get(key)
    return meant is not None and may_be_meant(shape, meant, entry)
