"""Unknown keys of a mapping: typos, names of other dialects, keys at the wrong level."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from waza_engine.later_patterns import compiled_later
from waza_engine.spec.reading.scalars import resolve_scalar
from waza_engine.steps import Steps
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.schema_rules.coercions import as_block, as_list, only_text
from waza_language_server.analysis.schema_rules.graders.one_pattern import OPTION, as_one_pattern, one_pattern
from waza_language_server.analysis.schema_rules.keys.meant_keys import (
    LOOKED_AT,
    is_other_name,
    is_rather_slip,
    may_be_meant,
    may_become,
    may_hold,
    meant_number_of,
)
from waza_language_server.analysis.schema_rules.keys.misplaced_keys import (
    EVERYWHERE,
    at_other_level,
    in_needless_block,
    in_own_block,
    removals,
    written_with_dot,
)
from waza_language_server.analysis.schema_rules.keys.other_types import types_with
from waza_language_server.analysis.schema_rules.keys.unknown_key import UnknownKey
from waza_language_server.analysis.schema_rules.scalar_coercions import (
    key_of_other_unit,
    milliseconds_of,
)
from waza_language_server.analysis.schema_rules.subject import Subject, needed_key_with
from waza_language_server.schema.locate import grader_type
from waza_language_server.schema.shape import Shape
from waza_language_server.spelling import alike_in_words, article, listed, slips_of
from waza_language_server.syntax.aliases import anchors_of
from waza_language_server.syntax.edits import delete_entry, replace_scalar
from waza_language_server.syntax.nodes import Entry, Node
from waza_language_server.text.edit import Edit, Edits, Fix
from waza_language_server.text.scalar_writing import plain_or_quoted

_CONTRARY = frozenset(
    {
        *((name, "enabled") for name in ("skip", "skipped", "disable", "disabled")),
        ("should_not_trigger", "should_trigger"),
    }
)
"""Names of switches with the opposite meaning of the intended one."""
_FIXTURE = compiled_later(r"(?:[^/\s]+/)*?fixtures/(?P<path>[^\s/][^\s]*)")


def unknown_key(subject: Subject, mapping: Node, shape: Shape, entry: Entry) -> UnknownKey:
    """Return the problem of a key that the mapping does not know."""
    key = entry.key.value
    if (pattern := one_pattern(shape, entry)) is not None:
        return _alternatives(subject, mapping, shape, entry, pattern)
    if (repeated := in_own_block(subject, mapping, shape, entry)) is not None:
        return repeated
    other = key_of_other_unit(key, shape.properties)
    if other is not None and mapping.entry(other[0]) is None:
        return _in_other_unit(subject, mapping, shape, entry, *other)
    if (divided := written_with_dot(subject, mapping, shape, entry)) is not None:
        return divided
    return _by_its_name(subject, mapping, shape, entry)


def _by_its_name(subject: Subject, mapping: Node, shape: Shape, entry: Entry) -> UnknownKey:
    if (known := _by_its_other_name(subject, mapping, shape, entry)) is not None:
        return known
    key = entry.key.value
    slips = slips_of(key, shape.properties)
    held = _known_by_content(mapping, shape, entry) if not slips else None
    if held is not None:
        return _misspelt(subject, mapping, shape, entry, held, safe=False)
    if (moved := at_other_level(subject, mapping, shape, entry)) is not None:
        return moved
    if slips:
        return _misspelt(subject, mapping, shape, entry, slips[0], safe=len(slips) == 1)
    if (unwrapped := in_needless_block(subject, mapping, shape, entry)) is not None:
        return unwrapped
    owners = _types_with_option(subject, mapping, key)
    known_keys = shape.properties

    def is_free(name: str) -> bool:
        return may_hold(known_keys[name].shape, entry.value) and mapping.entry(name) is None

    alike = alike_in_words(key, known_keys, is_free)
    if alike is None:
        # A typo of a name that is another name of a key.
        alike = shape.misspellings.get(next(iter(slips_of(key, shape.misspellings)), ""))
    if alike is None or owners or not may_be_meant(shape, alike, entry):
        return _stray(subject, mapping, shape, entry, owners)
    return _misspelt(subject, mapping, shape, entry, alike, safe=False)


def _by_its_other_name(subject: Subject, mapping: Node, shape: Shape, entry: Entry) -> UnknownKey | None:
    """Return the problem of a key with another common or foreign name, or None."""
    key = entry.key.value
    known = _turned(mapping, shape, shape.misspellings.get(key))
    if known is None or is_rather_slip(mapping, shape, entry, known):
        return None
    if not may_be_meant(shape, known, entry):
        return None
    counted = meant_number_of(known, shape.properties[known].shape, entry.value) is not None
    safe = not counted and key not in shape.uncertain and is_other_name(mapping, shape, entry, known)
    return _misspelt(subject, mapping, shape, entry, known, safe=safe)


def _turned(mapping: Node, shape: Shape, known: str | None) -> str | None:
    """Return the intended key if a switch next to it reverses the meaning: `should_match: false`."""
    switch = mapping.entry("should_match") if known is not None else None
    if known is None or switch is None or switch.value.to_python() is not False:
        return known
    contrary = known.replace("match", "not_match")
    return contrary if contrary in shape.properties else known


def _known_by_content(mapping: Node, shape: Shape, entry: Entry) -> str | None:
    """Return the one missing block that knows every key below an unknown one.

    For a string, return the missing required key that has it among its few values.
    """
    block = entry.value
    if block.kind == "scalar":
        return needed_key_with(mapping, shape, block.value)
    if block.kind != "mapping" or not 0 < len(block.green.children) <= LOOKED_AT:
        return None
    keys = frozenset(block.key_names)
    if keys <= EVERYWHERE:
        return None
    fitting = [
        name
        for name, known in shape.properties.items()
        if mapping.entry(name) is None and keys <= known.shape.branch("mapping").properties.keys()
    ]
    return fitting[0] if len(fitting) == 1 else None


def _misspelt(
    subject: Subject, mapping: Node, shape: Shape, entry: Entry, right: str, *, safe: bool
) -> UnknownKey:
    """Return the problem of a misspelt key; ``safe`` if that is certain."""
    message = f"{subject.name_of(mapping)} has no key `{entry.key.value}`"
    fixes: tuple[Fix, ...]
    if mapping.entry(right) is None:
        message += f"; did you mean `{right}`?"
        renaming = partial(_renaming, subject, shape, entry, right)
        known = shape.properties.get(right)
        number = meant_number_of(right, known.shape, entry.value) if known is not None else None
        written = right if number is None else f"{right}: {number}"
        # The content of a block is checked once its key is known.
        reveals = entry.value.target.kind != "scalar"
        fixes = (Fix(f"Change to `{written}`", renaming, preferred=safe, reveals=reveals),)
        if (entry.key.value, right) in _CONTRARY:
            fixes = tuple(_turned_switch(entry, right))
        elif known is not None and not may_become(known.shape, entry.value.target):
            fixes = removals(subject, entry)
    else:
        message += f", and `{right}` is there already."
        fixes = (*_path_of_fixture(subject, mapping, entry, right), *removals(subject, entry))
    problem = Problem("unknown-key", entry.key.span, _capital(message), shape.unknown_keys, fixes)
    return UnknownKey(problem, mapping, mapping, (right,))


def _turned_switch(entry: Entry, right: str) -> Iterator[Fix]:
    """Yield the fix of a switch whose other name means the opposite: `skip: true` is `enabled: false`."""
    value = entry.value.to_python() if entry.value.kind == "scalar" else None
    if isinstance(value, bool):
        turned = "false" if value else "true"
        edits = (Edit(entry.key.span, right), Edit(entry.value.span, turned))
        yield Fix(f"Write `{right}: {turned}`", edits)


def _path_of_fixture(subject: Subject, mapping: Node, entry: Entry, right: str) -> Iterator[Fix]:
    """Yield the fix for `source: ../fixtures/a.py` next to a path: paths begin in the fixtures folder."""
    there, value = mapping.entry(right), entry.value
    match = _FIXTURE.fullmatch(value.value) if value.kind == "scalar" else None
    if right != "path" or there is None or there.value.kind != "scalar" or match is None:
        return
    path = match["path"]
    if there.value.value == path or not len(there.value.span) or there.value.green.anchor is not None:
        return
    yield Fix(f"Write `path: {path}`", partial(_replacing, subject, there.value, path, entry))


def _replacing(subject: Subject, value: Node, written: str, without: Entry) -> Steps[Edits]:
    gone = yield from delete_entry(subject.tree, without)
    in_flow = value.parent is not None and value.parent.style == "flow"
    return (Edit(value.span, plain_or_quoted(written, flow=in_flow)), *gone) if gone else ()


def _in_other_unit(
    subject: Subject, mapping: Node, shape: Shape, entry: Entry, right: str, factor: float
) -> UnknownKey:
    """Return the problem of a key that counts in another unit; the fix converts the value."""
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
    """Return the problem of a key that means "one of these", which one pattern can express."""
    shown = pattern if len(pattern) <= 60 else f"{pattern[:59]}…"
    message = f"{subject.name_of(mapping)} has no key `{entry.key.value}`; `{OPTION}: ['{shown}']` says it."
    fixes = as_one_pattern(mapping, entry, pattern)
    problem = Problem("unknown-key", entry.key.span, _capital(message), shape.unknown_keys, fixes)
    return UnknownKey(problem, mapping, mapping, (OPTION,))


def _renaming(subject: Subject, shape: Shape, entry: Entry, right: str) -> Steps[Edits]:
    """Return the edits that rename a key and convert its value to the form that the new key requires.

    A single value becomes a list; a string becomes the block, or the item, whose only required key it
    becomes.
    """
    edits = [Edit(entry.key.span, right)]
    known, value = shape.properties.get(right), entry.value
    if known is not None and (number := meant_number_of(right, known.shape, value)) is not None:
        return (*edits, Edit(value.span, number))
    if known is not None and value.kind == "scalar" and len(value.span) and known.shape.wants_list:
        edits += filter(None, [as_list(subject, value, known.shape)])
    elif known is not None and value.kind == "scalar" and len(value.span) and (key := only_text(known.shape)):
        edits += filter(None, [as_block(subject, value, key)])
    item_shape = known.shape.items if known is not None else None
    if item_shape is not None and value.kind == "sequence" and (key := only_text(item_shape)) is not None:
        for item in value.items:
            if item.kind == "scalar" and len(item.span):
                edits += filter(None, [as_block(subject, item, key)])
            yield
    return tuple(edits)


def _types_with_option(subject: Subject, mapping: Node, key: str) -> tuple[str, ...]:
    """Return the other grader types that have this option; empty outside a grader's ``config``."""
    in_config = subject.is_grader and mapping.step == "config"
    return types_with(subject, frozenset({key})) if in_config else ()


def _type_changes(subject: Subject, mapping: Node, owners: tuple[str, ...]) -> Iterator[Fix]:
    """Yield the fix of a grader whose options, known ones too, are all those of one other type."""
    written = subject.node.get("type")
    fitting = types_with(subject, frozenset(mapping.key_names)) if owners else ()
    if len(fitting) == 1 and written is not None and written.kind == "scalar":
        repair = partial(replace_scalar, subject.tree, written, fitting[0])
        yield Fix(f"Change the type to `{fitting[0]}`", repair)


def _stray(
    subject: Subject, mapping: Node, shape: Shape, entry: Entry, owners: tuple[str, ...]
) -> UnknownKey:
    message = f"{subject.name_of(mapping)} has no key `{entry.key.value}`"
    if not subject.is_grader and subject.tree.anchored and anchors_of(entry.value.green):
        # The key only holds an anchor, and aliases elsewhere use its value.
        message = f"{_capital(message)}; what it names with `&` can be taken over elsewhere."
        return UnknownKey(
            Problem("unknown-key", entry.key.span, message, "information"), mapping, mapping, ()
        )
    written = grader_type(subject.node) if subject.is_grader and mapping.step == "config" else None
    if written is not None:
        message = f"{article(written)} `{written}` grader has no option `{entry.key.value}`"
    if owners:
        message += f" (one of {listed(owners[:3], 'and')} graders)"
    fixes = (*_type_changes(subject, mapping, owners), *removals(subject, entry))
    problem = Problem(
        "unknown-key",
        entry.key.span,
        _capital(f"{message}; {shape.unknown_key_effect}."),
        shape.unknown_keys,
        fixes,
    )
    return UnknownKey(problem, mapping, mapping, ())


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
