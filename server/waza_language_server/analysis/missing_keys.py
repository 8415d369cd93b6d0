"""Keys that are not there: those a run needs, those of which one must be given, those that are better given."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from waza_language_server.analysis.problem import Fix, Problem
from waza_language_server.analysis.spelling import listed
from waza_language_server.analysis.subject import Subject
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.edits import insert_entry
from waza_language_server.syntax.nodes import Node

_SAMPLES = {"string": "TODO", "integer": "1", "number": "1", "boolean": "true", "array": "[]", "object": "{}"}


def missing_key(subject: Subject, mapping: Node, shape: Shape, key: str) -> Problem:
    """Return the problem of a key that must be there, with a fix that inserts it."""
    known = shape.properties.get(key)
    what = _first_sentence(known.shape.description) if known is not None else ""
    message = f"`{key}` is missing in {subject.name_of(mapping)}{f': {what}' if what else '.'}"
    fixes = tuple(_insertions(subject, mapping, shape, (key,)))
    return Problem("missing-key", subject.anchor_of_missing(mapping), message, "error", fixes)


def empty_value(subject: Subject, node: Node, shape: Shape) -> Problem:
    """Return the problem of a key that is there without a value."""
    holder = subject.entry(node)
    name = f"`{holder.key.value}`" if holder is not None else "This item"
    what = _first_sentence(shape.description)
    message = f"{name} has no value{f': {what}' if what else '.'}"
    return Problem("empty-value", subject.value_span(node), message, shape.severity or "error")


def nothing_given(subject: Subject, mapping: Node, shape: Shape, keys: Sequence[str]) -> Problem:
    """Return the problem of a mapping in which nothing has an effect."""
    message = f"{_capital(subject.name_of(mapping))} checks nothing: give at least one of {listed(keys)}."
    fixes = tuple(_insertions(subject, mapping, shape, keys[:3]))
    return Problem("nothing-checked", subject.anchor_of_missing(mapping), message, "error", fixes)


def exactly_one(subject: Subject, mapping: Node, keys: Sequence[str]) -> Problem:
    """Return the problem of a mapping that must have exactly one of some keys."""
    message = f"{_capital(subject.name_of(mapping))} needs exactly one of {listed(keys)}."
    return Problem("exactly-one-key", subject.anchor_of_missing(mapping), message, "error")


def recommended_keys(subject: Subject, mapping: Node, shape: Shape) -> Iterator[Problem]:
    """Yield the keys that are better given; one of severity ``error`` is left to the schema itself."""
    for advice in shape.recommended:
        if mapping.entry(advice.key) is None:
            message = f"`{advice.key}` is missing in {subject.name_of(mapping)}: {advice.why.rstrip('.')}."
            fixes = tuple(_insertions(subject, mapping, shape, (advice.key,)))
            span = subject.anchor_of_missing(mapping)
            yield Problem("recommended-key", span, message, advice.severity, fixes)


def _insertions(subject: Subject, mapping: Node, shape: Shape, keys: Sequence[str]) -> Iterator[Fix]:
    for key in keys:
        known = shape.properties.get(key)
        if known is None or mapping.kind != "mapping" or mapping.entry(key) is not None:
            continue
        edits = insert_entry(subject.tree, mapping, key, sample_text(known.shape))
        if edits:
            yield Fix(f"Insert `{key}`", edits)


def sample_text(shape: Shape) -> str:
    """Return a value to start from, as YAML on one line: an allowed value, an example, or a placeholder."""
    for value in (*shape.enum, *shape.examples, *([shape.default] if shape.default else [])):
        return json.dumps(value, ensure_ascii=False)
    return next((_SAMPLES[name] for name in _SAMPLES if name in shape.types), "TODO")


def _first_sentence(description: str) -> str:
    line = description.strip().splitlines()[0] if description.strip() else ""
    end = line.find(". ")
    return line if end < 0 else line[: end + 1]


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
