"""Unknown keys of a mapping: typos, names of other dialects, options of another grader type."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice

from waza_engine.checkpoint import checkpoint
from waza_engine.later_patterns import compiled_later
from waza_engine.spec.reading.scalars import resolve_scalar
from waza_engine.spelling import alike_in_words, article, listed, typo_of, typos_of
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.schema_rules.coercions import as_block, as_list, only_text
from waza_language_server.analysis.schema_rules.conversions import OPTION, as_one_pattern, one_pattern
from waza_language_server.analysis.schema_rules.grader_types import current_types
from waza_language_server.analysis.schema_rules.misplaced_keys import (
    EVERYWHERE,
    OneMistake,
    UnknownKey,
    at_other_level,
    removals,
)
from waza_language_server.analysis.schema_rules.subject import Subject, capitalized, needed_key_with
from waza_language_server.schema.locate import grader_type
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.aliases import anchors_of
from waza_language_server.syntax.edits import replace_scalar
from waza_language_server.syntax.escapes import quoted
from waza_language_server.syntax.nodes import Entry, Node
from waza_language_server.text.edit import Edit, Edits, Fix
from waza_language_server.text.span import Span

_CONTRARY = frozenset(
    {
        *((name, "enabled") for name in ("skip", "skipped", "disable", "disabled")),
        ("should_not_trigger", "should_trigger"),
    }
)
"""Names of switches with the opposite meaning of the intended one."""
_NAME_WITH_UNIT = compiled_later(
    "(?P<stem>[a-z_]+?)_(?P<unit>ms|milliseconds|s|secs?|seconds|mins?|minutes|h|hours)"
)
_HUMP = compiled_later(r"(?<=[a-z])(?=[A-Z])")
_COUNTED = compiled_later("_(?:ms|seconds)$")
_UNITS = (("ms", 1), ("milli", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000))
"""How names of units begin, the longer ones first, and their milliseconds."""


def unknown_key(subject: Subject, mapping: Node, shape: Shape, entry: Entry) -> UnknownKey:
    """Return the problem of a key that the mapping does not know."""
    if (pattern := one_pattern(shape, entry)) is not None:
        return _alternatives(subject, mapping, shape, entry, pattern)
    if (prose := _text_with_colon(subject, mapping, shape, entry)) is not None:
        return prose
    other = _key_of_other_unit(entry.key.value, shape.properties)
    if other is not None and mapping.entry(other[0]) is None:
        return _in_other_unit(subject, mapping, shape, entry, *other)
    return _by_its_name(subject, mapping, shape, entry)


def _by_its_name(subject: Subject, mapping: Node, shape: Shape, entry: Entry) -> UnknownKey:
    if (known := _by_its_other_name(subject, mapping, shape, entry)) is not None:
        return known
    key = entry.key.value
    typos = typos_of(key, shape.properties)
    held = _known_by_content(mapping, shape, entry) if not typos else None
    if held is not None:
        return _misspelt(subject, mapping, shape, entry, held, safe=False)
    if (moved := at_other_level(subject, mapping, shape, entry)) is not None:
        return moved
    if typos:
        return _misspelt(subject, mapping, shape, entry, typos[0], safe=len(typos) == 1)
    owners = _types_with_option(subject, mapping, key)
    known_keys = shape.properties

    def is_free(name: str) -> bool:
        return may_hold(known_keys[name].shape, entry.value) and mapping.entry(name) is None

    alike = alike_in_words(key, known_keys, is_free)
    if alike is None:
        # A typo of a name that is another name of a key.
        alike = shape.misspellings.get(next(iter(typos_of(key, shape.misspellings)), ""))
    if alike is None or owners or not may_be_intended(shape, alike, entry):
        return _stray(subject, mapping, shape, entry, owners)
    return _misspelt(subject, mapping, shape, entry, alike, safe=False)


def _by_its_other_name(subject: Subject, mapping: Node, shape: Shape, entry: Entry) -> UnknownKey | None:
    """Return the problem of a key with another common or foreign name, or None."""
    key = entry.key.value
    known = _turned(mapping, shape, shape.misspellings.get(key))
    if known is None or is_likelier_typo(mapping, shape, entry, known):
        return None
    if not may_be_intended(shape, known, entry):
        return None
    safe = key not in shape.uncertain and is_other_name(mapping, shape, entry, known)
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


def _text_with_colon(subject: Subject, mapping: Node, shape: Shape, entry: Entry) -> UnknownKey | None:
    """Return the problem of a string with `: ` in it at the beginning of an item that lacks its key."""
    needed = (shape.required or shape.at_least_one)[:1]
    # Keys of suites are single lowercase words.
    is_prose = len(entry.key.value.split()) > 1 or entry.key.value[:1].isupper()
    if not is_prose or not needed:
        return None
    text, first = subject.text, next(mapping.each_entry(), None)
    if first is None or first.key.span != entry.key.span:
        return None
    key, known = needed[0], shape.properties.get(needed[0])
    written = text[entry.key.span.start : entry.value.span.end]
    is_text = entry.key.style == entry.value.style == "plain" and "\n" not in written
    if not is_text or known is None or "string" not in known.shape.types or mapping.entry(key) is not None:
        return None
    message = f"The `: ` in this string turns its first words into a key; put it in quotes, after `{key}: `."
    edit = Edit(Span(entry.key.span.start, entry.value.span.end), f"{key}: {quoted(written)}")
    fixes = (Fix(f"Write `{key}: '…'`", (edit,)),)
    problem = Problem("unknown-key", entry.key.span, message, shape.unknown_keys, fixes)
    return UnknownKey(problem, mapping, mapping, (key,))


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
        # The content of a block is checked once its key is known.
        reveals = entry.value.target.kind != "scalar"
        fixes = (Fix(f"Change to `{right}`", renaming, preferred=safe, reveals=reveals),)
        if (entry.key.value, right) in _CONTRARY:
            fixes = tuple(_turned_switch(entry, right))
        elif known is not None and not may_become(known.shape, entry.value.target):
            fixes = removals(subject, entry)
    else:
        message += f", and `{right}` is there already."
        fixes = removals(subject, entry)
    problem = Problem("unknown-key", entry.key.span, capitalized(message), shape.unknown_keys, fixes)
    return UnknownKey(problem, mapping, mapping, (right,))


def _turned_switch(entry: Entry, right: str) -> Iterator[Fix]:
    """Yield the fix of a switch whose other name means the opposite: `skip: true` is `enabled: false`."""
    value = entry.value.to_python() if entry.value.kind == "scalar" else None
    if isinstance(value, bool):
        turned = "false" if value else "true"
        edits = (Edit(entry.key.span, right), Edit(entry.value.span, turned))
        yield Fix(f"Write `{right}: {turned}`", edits)


def _in_other_unit(
    subject: Subject, mapping: Node, shape: Shape, entry: Entry, right: str, factor: float
) -> UnknownKey:
    """Return the problem of a key that counts in another unit; the fix converts the value."""
    unit = "milliseconds" if right.endswith("_ms") else "seconds"
    message = f"{subject.name_of(mapping)} has no key `{entry.key.value}`; `{right}` counts {unit}."
    value = resolve_scalar(entry.value.value) if entry.value.kind == "scalar" else None
    fixes: tuple[Fix, ...] = ()
    if isinstance(value, int | float) and not isinstance(value, bool) and (value * factor).is_integer():
        counted = str(int(value * factor))
        edits = (Edit(entry.key.span, right), Edit(entry.value.span, counted))
        fixes = (Fix(f"Change to `{right}: {counted}`", edits),)
    problem = Problem("unknown-key", entry.key.span, capitalized(message), shape.unknown_keys, fixes)
    return UnknownKey(problem, mapping, mapping, (right,))


def _key_of_other_unit(written: str, known: Iterable[str]) -> tuple[str, float] | None:
    """Return the key that counts the same in another unit, and the conversion factor.

    ``timeout_ms`` is ``timeout_seconds`` and 0.001.
    """
    match = _NAME_WITH_UNIT.fullmatch(_HUMP.sub("_", written).lower().replace("-", "_"))
    for name in known if match is not None else ():
        counted = 1 if name.endswith("_ms") else 1_000 if "timeout" in name.lower() else None
        if match is not None and counted is not None and _COUNTED.sub("", name) == match["stem"]:
            factor = next(size for unit, size in _UNITS if match["unit"].startswith(unit)) / counted
            return (name, factor) if factor != 1 else None
    return None


def _alternatives(subject: Subject, mapping: Node, shape: Shape, entry: Entry, pattern: str) -> UnknownKey:
    """Return the problem of a key that means "one of these", which one pattern can express."""
    shown = pattern if len(pattern) <= 60 else f"{pattern[:59]}…"
    message = f"{subject.name_of(mapping)} has no key `{entry.key.value}`; `{OPTION}: ['{shown}']` says it."
    fixes = as_one_pattern(mapping, entry, pattern)
    problem = Problem("unknown-key", entry.key.span, capitalized(message), shape.unknown_keys, fixes)
    return UnknownKey(problem, mapping, mapping, (OPTION,))


def _renaming(subject: Subject, shape: Shape, entry: Entry, right: str) -> Edits:
    """Return the edits that rename a key and convert its value to the form that the new key requires.

    A single value becomes a list; a string becomes the block, or the item, whose only required key it
    becomes.
    """
    edits = [Edit(entry.key.span, right)]
    known, value = shape.properties.get(right), entry.value
    if known is not None and value.kind == "scalar" and len(value.span) and known.shape.wants_list:
        edits += filter(None, [as_list(subject, value, known.shape)])
    elif known is not None and value.kind == "scalar" and len(value.span) and (key := only_text(known.shape)):
        edits += filter(None, [as_block(subject, value, key)])
    item_shape = known.shape.items if known is not None else None
    if item_shape is not None and value.kind == "sequence" and (key := only_text(item_shape)) is not None:
        for item in value.items:
            if item.kind == "scalar" and len(item.span):
                edits += filter(None, [as_block(subject, item, key)])
            checkpoint()
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
        message = f"{capitalized(message)}; its anchor can be used elsewhere."
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
        capitalized(f"{message}; {shape.unknown_key_effect}."),
        # Each tool around evals of skills adds keys of its own.
        "information" if subject.tree.is_json else shape.unknown_keys,
        fixes,
    )
    return UnknownKey(problem, mapping, mapping, ())


LOOKED_AT = 100
"""How many keys next to one are checked that may reverse its meaning."""
_TYPED = frozenset({"number", "integer", "boolean"})


def is_likelier_typo(mapping: Node, shape: Shape, entry: Entry, known: str) -> bool:
    """Return whether a name with another meaning is, by its value, rather a typo of a missing key."""
    typo = typo_of(entry.key.value, shape.properties)
    if typo is None or typo == known or known not in shape.properties or mapping.entry(typo) is not None:
        return False
    fits, other = (_fits_as_it_is(shape.properties[key].shape, entry.value) for key in (typo, known))
    return fits and not other


def is_other_name(mapping: Node, shape: Shape, entry: Entry, known: str) -> bool:
    """Return whether a key certainly means ``known``: it is a typo, or its value fits unchanged.

    Other unknown keys next to it may reverse its meaning, as `should_match: false` next to `pattern`.
    """
    if typo_of(entry.key.value, [known]):
        return True
    right = shape.properties.get(known)
    fits = right is not None and _fits_as_it_is(right.shape, entry.value)
    return fits and all(_has_meaning(shape, other) for other in islice(mapping.each_entry(), LOOKED_AT))


def may_become(shape: Shape, node: Node) -> bool:
    """Return whether a value fits, or may fit once it is converted: several items never become one value."""
    only_one = not shape.fits("mapping") and not shape.fits("sequence")
    return not only_one or node.kind == "scalar" or (node.kind == "sequence" and len(node.items) == 1)


def may_be_intended(shape: Shape, key: str, entry: Entry) -> bool:
    """Return whether another key is probably intended, by the name and by the type of the value."""
    known = shape.properties.get(key)
    return known is None or bool(typo_of(entry.key.value, [key])) or may_hold(known.shape, entry.value)


def may_hold(shape: Shape, value: Node) -> bool:
    """Return whether a value may be intended for a key; a number or a switch is not for a list of strings."""
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
    if key in shape.properties or typos_of(key, shape.properties):
        return True
    intended = shape.misspellings.get(key)
    return intended is not None and may_be_intended(shape, intended, entry)


_MOST_OPTIONS = 50


def of_another_type(
    subject: Subject, mapping: Node, shape: Shape, unexpected: Sequence[Entry]
) -> OneMistake | None:
    """Return the problem, at the type, of a grader whose options are all those of one other type.

    None if its type knows one of them, or one may be a typo of an option that it knows.
    """
    if not subject.is_grader or mapping.step != "config" or not 0 < len(unexpected) <= _MOST_OPTIONS:
        return None
    written, keys = subject.node.entry("type"), frozenset(mapping.key_names)
    if written is None or written.value.kind != "scalar" or len(unexpected) != len(keys):
        return None
    if any(key in shape.misspellings or typos_of(key, shape.properties) for key in keys):
        return None
    others = types_with(subject, keys)
    if len(others) != 1:
        return None
    (other,) = others
    here, first = written.value.value, unexpected[0]
    lacked = f"no option `{first.key.value}`" if len(keys) == 1 else "none of these options"
    message = f"{article(here).capitalize()} `{here}` grader has {lacked}, which `{other}` graders have."
    repair = partial(replace_scalar, subject.tree, written.value, other)
    fixes = (
        Fix(f"Change the type to `{other}`", repair),
        *(removals(subject, first) if len(keys) == 1 else ()),
    )
    problem = Problem("unknown-key", written.value.span, message, shape.unknown_keys, fixes)
    # The other missing keys follow from the wrong type.
    needed = frozenset(shape.properties)
    return OneMistake(UnknownKey(problem, mapping, mapping, (), held=needed, cause="As it is"), keys)


def types_with(subject: Subject, keys: frozenset[str]) -> tuple[str, ...]:
    """Return the grader types that have all of these options, in alphabetical order."""
    catalog = subject.catalog
    return tuple(name for name in current_types(catalog) if keys <= catalog.options_of(name))
