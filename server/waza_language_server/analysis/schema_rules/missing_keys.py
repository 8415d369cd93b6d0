"""Missing keys: required ones, groups that require one key, recommended ones."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import cast

from waza_engine.spec.reading.scalars import resolve_scalar
from waza_engine.spelling import listed
from waza_language_server.analysis.file_rules.grader_names import free_name
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.schema_rules.misplaced_keys import UnknownKeys
from waza_language_server.analysis.schema_rules.subject import Subject, capitalized
from waza_language_server.project.suite_file import scalar_text
from waza_language_server.schema.shape import Property, Shape
from waza_language_server.syntax.edits import insert_entry
from waza_language_server.syntax.nodes import Entry, Node
from waza_language_server.syntax.scalar_writing import plain_or_quoted
from waza_language_server.text.edit import Edits, Fix

_SAMPLES = {"string": "TODO", "integer": "1", "number": "1", "boolean": "true", "array": "[]", "object": "{}"}


def missing_key(subject: Subject, mapping: Node, shape: Shape, key: str) -> Problem:
    """Return the problem of a missing required key, with a fix that inserts it."""
    known = shape.properties.get(key)
    what = _hint(known.shape) if known is not None else ""
    message = f"`{key}` is missing in {subject.name_of(mapping)}{f': {what}' if what else '.'}"
    fixes = tuple(_insertions(subject, mapping, shape, (key,)))
    severity = known.shape.severity_of_missing if known is not None else "error"
    return Problem("missing-key", subject.anchor_of_missing(mapping), message, severity, fixes)


def empty_value(subject: Subject, node: Node, shape: Shape) -> Problem:
    """Return the problem of a key without a value."""
    holder = subject.entry(node)
    name = f"`{holder.key.value}`" if holder is not None else "This item"
    what = _hint(shape)
    around = subject.shape_at(node.parent) if node.parent is not None else None
    needed = around is not None and node.step in around.required
    wrong = "has no value"
    if subject.tree.is_json and node.value:
        wrong = "is `null`; write a value" + ("" if needed or holder is None else ", or delete the key")
    message = f"{name} {wrong}{f': {what}' if what else '.'}"
    severity = "error" if needed else shape.severity or "error"
    return Problem("empty-value", subject.value_span(node), message, severity)


def nothing_given(subject: Subject, mapping: Node, shape: Shape, keys: Sequence[str]) -> Problem:
    """Return the problem of a mapping without any effect."""
    lack = "checks nothing: give" if subject.is_grader else "needs"
    wanted = listed(keys) if len(keys) == 1 else f"at least one of {listed(keys)}"
    name = subject.name_of(mapping)
    message = f"{capitalized(name)} {lack} {wanted}."
    given = [entry for entry in mapping.entries if entry.key.value in keys]
    if len(given) == 1:
        key, value = given[0].key.value, given[0].value
        # A limit of 0 means no limit, and a switch that is off enables nothing.
        is_set = value.target.kind == "scalar" and value.target.value.strip() not in {"", "~", "null"}
        what = f"`{key}: {value.target.value.strip()}` has no effect" if is_set else f"`{key}` is empty"
        need = f"{name} needs it" if len(keys) == 1 else message[:1].lower() + message[1:].rstrip(".")
        message = f"{what}, and {need}."
        return Problem("nothing-checked", subject.value_span(value), message, "error")
    fixes = tuple(_insertions(subject, mapping, shape, keys[:3]))
    return Problem("nothing-checked", subject.anchor_of_missing(mapping), message, "error", fixes)


def exactly_one(subject: Subject, mapping: Node, keys: Sequence[str]) -> Problem:
    """Return the problem of a mapping that must have exactly one of some keys."""
    message = f"{capitalized(subject.name_of(mapping))} needs exactly one of {listed(keys)}."
    return Problem("exactly-one-key", subject.anchor_of_missing(mapping), message, "error")


def recommended_keys(
    subject: Subject, mapping: Node, shape: Shape, unknown: UnknownKeys
) -> Iterator[Problem]:
    """Yield the missing recommended keys, unless an unknown key was intended as one."""
    for advice in shape.recommended:
        if advice.unless and mapping.entry(advice.unless) is not None:
            continue
        given = mapping.get(advice.key)
        if given is not None and not _is_null(given):
            continue
        entry = mapping.entry(advice.key)
        if entry is not None and _is_null(entry.value):
            message = f"`{advice.key}` has no value: {advice.why.rstrip('.')}."
            yield Problem("recommended-key", entry.key.span, message, advice.severity)
        if entry is None and not unknown.causes_of_missing(mapping, advice.key):
            message = f"`{advice.key}` is missing in {subject.name_of(mapping)}: {advice.why.rstrip('.')}."
            fixes = tuple(_insertions(subject, mapping, shape, (advice.key,)))
            span = subject.anchor_of_missing(mapping)
            yield Problem("recommended-key", span, message, advice.severity, fixes)


def _is_null(node: Node) -> bool:
    return node.kind == "scalar" and node.to_python() is None


def _insertions(subject: Subject, mapping: Node, shape: Shape, keys: Sequence[str]) -> Iterator[Fix]:
    for key in keys:
        known = shape.properties.get(key)
        if known is not None and mapping.kind == "mapping" and mapping.entry(key) is None:
            yield Fix(f"Insert `{key}`", partial(_inserted, subject, mapping, shape, known))


def _inserted(subject: Subject, mapping: Node, shape: Shape, known: Property) -> Edits:
    key = known.name
    if known.shape.kind == "grader.name":
        value = _free_name(mapping)
    elif mapping.parent is None and key in _OF_FILE:
        value = _value_of_file(subject, mapping, key)
    elif subject.is_grader and key == "config" and (example := _example_config(shape)):
        pairs = [f"{name}: {_flow_text(option)}" for name, option in example.items()]
        flow = mapping.style == "flow"
        value = f"{{{', '.join(pairs)}}}" if flow else "".join(f"\n  {pair}" for pair in pairs)
    else:
        value = _sample_text(known.shape, flow=mapping.style == "flow")
    return insert_entry(subject.tree, mapping, key, value, _place(mapping, shape, key))


_OF_FILE = frozenset({"description", "id", "name", "skill"})
"""Keys that describe the file itself, so that an example would describe another one."""


def _value_of_file(subject: Subject, root: Node, key: str) -> str:
    """Return the name of a suite after its skill; nothing for other keys, which the author fills in."""
    skill = scalar_text(root.get("skill")) if subject.document_kind == "eval" and key == "name" else None
    if skill is not None:
        return plain_or_quoted(f"{skill}-eval", flow=root.style == "flow")
    return '""' if root.style == "flow" else ""


def _sample_text(shape: Shape, *, flow: bool) -> str:
    """Return a value to start from: an allowed value, an example, the required keys, or a placeholder."""
    block = shape.branch("mapping")
    needed = (*block.required, *block.at_least_one[:1], *block.exactly_one[:1])
    if needed and "object" in block.types:
        pairs = [
            f"{key}: {_sample_text(block.properties[key].shape, flow=True)}"
            for key in dict.fromkeys(needed)
            if key in block.properties
        ]
        return f"{{{', '.join(pairs)}}}" if flow else "".join(f"\n  {pair}" for pair in pairs)
    for value in (*shape.enum, *shape.examples, *([shape.default] if shape.default else [])):
        return _flow_text(value)
    return next((_SAMPLES[name] for name in _SAMPLES if name in shape.types), "TODO")


def _example_config(grader: Shape) -> dict[str, object]:
    """Return the options of the first example of a grader type; empty if it has no example."""
    examples = cast("Iterator[dict[str, object]]", iter(grader.examples))
    found = next((each["config"] for each in examples if "config" in each), None)
    return cast("dict[str, object]", found or {})


def _place(mapping: Node, shape: Shape, key: str) -> Entry | None:
    """Return the entry after which to insert a key: the last of those that the schema lists before it."""
    order = list(shape.properties)
    if key not in order or mapping.style == "flow":
        return None
    earlier = (mapping.entry(name) for name in order[: order.index(key)])
    known = [entry for entry in earlier if entry is not None]
    return max(known, key=lambda entry: entry.span.start, default=mapping.entry("type"))


def _free_name(grader: Node) -> str:
    """Return a name for a grader, after its type, that no grader next to it has."""
    type_node = grader.get("type")
    base = f"{type_node.target.value}_check" if type_node is not None else "check"
    siblings = grader.parent.items if grader.parent is not None else ()
    taken = {name.target.value for each in siblings if (name := each.get("name")) is not None}
    return free_name(base, taken)


def _flow_text(value: object) -> str:
    """Return a value as YAML on one line, without quotes if a string needs none."""
    if isinstance(value, str):
        plain = re.fullmatch(r"[A-Za-z][\w./*-]*(?: [\w./*-]+)*", value) and isinstance(
            resolve_scalar(value), str
        )
        return value if plain else json.dumps(value, ensure_ascii=False)
    if isinstance(value, list | tuple):
        return f"[{', '.join(_flow_text(item) for item in cast('list[object]', value))}]"
    if isinstance(value, dict):
        block = cast("dict[str, object]", value)
        return f"{{{', '.join(f'{key}: {_flow_text(item)}' for key, item in block.items())}}}"
    return json.dumps(value, ensure_ascii=False)


def _hint(shape: Shape) -> str:
    """Return a hint about the value in one sentence: the allowed values, or its meaning."""
    choices = [value for value in shape.enum if value is not None and value != ""]
    if choices and len(choices) <= 8:
        return f"write {listed(choices)}."
    line = shape.description.strip().splitlines()[0] if shape.description.strip() else ""
    if not line[:1].isalpha():
        return ""
    line = line.replace("**", "")
    end = line.find(". ")
    return line[:1].lower() + (line[1:] if end < 0 else line[1 : end + 1])
