"""Translation of the validator's errors into problems: one problem for each mistake, at its own characters.

The validator reports the kind of each error, the path of the value and the path of the schema. Its wording is
never shown, and only the alternative that the author chose for a value is explained.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from waza_engine.checkpoint import checkpoint, collect
from waza_engine.frozen import frozen
from waza_engine.spec.reading.scalars import MERGE_KEY
from waza_engine.spelling import typo_of
from waza_engine.vocabulary import PARTS_OF_SUITES
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.schema_rules import missing_keys, wrong_values
from waza_language_server.analysis.schema_rules.misplaced_keys import (
    UnknownKey,
    UnknownKeys,
    dedented_block,
)
from waza_language_server.analysis.schema_rules.subject import Subject
from waza_language_server.analysis.schema_rules.unknown_keys import of_another_type, unknown_key
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.edits import delete_entry
from waza_language_server.syntax.nodes import Entry, Node
from waza_language_server.text.edit import Fix

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

_RELATIONS = {
    "minimum": "at least",
    "maximum": "at most",
    "exclusiveMinimum": "greater than",
    "exclusiveMaximum": "less than",
}
_MOST_SLIPS = 100
"""The most unknown keys to check in a mapping with unparsed parts."""


@frozen()
class _Collected:
    """The problems of one subject before related ones are combined."""

    problems: list[Problem] = field(default_factory=list[Problem])
    unknown: list[UnknownKey] = field(default_factory=list[UnknownKey])
    missing: list[tuple[Node, str, Problem]] = field(default_factory=list[tuple[Node, str, Problem]])
    nothing: list[tuple[Node, tuple[str, ...], Problem]] = field(
        default_factory=list[tuple[Node, tuple[str, ...], Problem]]
    )


Explained = tuple[tuple[Problem, ...], UnknownKeys]


def explained(subject: Subject, errors: Iterable[ValidationError]) -> Explained:
    """Return a problem for each mistake in the validator's errors, and the unknown keys among them."""
    collected = _Collected()
    for error in errors:
        _explain(subject, error, collected)
        checkpoint()
    unknown = UnknownKeys(collected.unknown)
    return tuple(collect(_combined(collected, unknown, subject))), unknown


def _combined(collected: _Collected, unknown: UnknownKeys, subject: Subject) -> Iterator[Problem]:
    """Yield the problems, a missing key and its misspelling as one.

    A misspelt or misplaced key that leaves a mapping without a required key, or without any effect, is the
    error; the missing key is not reported a second time.
    """
    consequences: dict[int, str] = {}
    for mapping, key, problem in collected.missing:
        culprits = unknown.causes_of_missing(mapping, key)
        if problem.severity == "error":
            consequences.update((id(culprit), f"{culprit.cause} {subject.outcome}.") for culprit in culprits)
        if not culprits:
            yield problem
    beyond = {problem.span for problem in collected.problems if problem.code == "out-of-range"}
    for mapping, keys, problem in collected.nothing:
        if problem.span in beyond:
            # The out-of-range number is the reason that nothing is checked.
            continue
        culprits = _culprits(unknown, mapping, keys)
        outcome = "nothing is checked" if subject.is_grader else subject.outcome
        consequences.update((id(culprit), f"{culprit.cause} {outcome}.") for culprit in culprits)
        if not culprits:
            yield problem
    for each in unknown.all:
        if (gone := _removed(each)) is not None:
            consequences.setdefault(id(each), f"{each.cause} the run has none of these {gone}.")
        if id(each) in consequences and each.problem.severity != "error":
            message = f"{each.problem.message} {consequences[id(each)]}"
            yield replace(each.problem, severity="error", message=message)
        else:
            yield each.problem
    for problem in collected.problems:
        # The validator reports both for a fraction: out of range, and not a whole number.
        if problem.code != "wrong-type" or problem.span not in beyond:
            yield problem


def _removed(key: UnknownKey) -> str | None:
    """Return the part of a suite or a task that a misspelt key removes from a run, such as ``graders``."""
    holder = key.mapping.parent
    is_of_suite = holder is None or (holder.kind == "sequence" and len(holder.path) == 1)
    if not is_of_suite or key.home.path != key.mapping.path or len(key.intended) != 1:
        return None
    (part,) = key.intended
    return PARTS_OF_SUITES.get(part) if key.home.entry(part) is None else None


def _culprits(unknown: UnknownKeys, mapping: Node, keys: tuple[str, ...]) -> list[UnknownKey]:
    """Return the unknown keys that were intended as one of the required ones.

    In a block of options without any known word, no single key is to blame.
    """
    intended = [each for key in keys for each in unknown.causes_of_missing(mapping, key)]
    if not intended and mapping.step == "config":
        intended = unknown.without_intended_key(mapping)
    return intended


def _explain(subject: Subject, error: ValidationError, collected: _Collected) -> None:
    node = subject.find(error.instance_path)
    keyword = str(error.schema_path[-1]) if error.schema_path else ""
    is_of_keys = keyword in {"additionalProperties", "unevaluatedProperties"} and node.kind == "mapping"
    if subject.is_guess(node) or (subject.tree.broken(node) and not is_of_keys):
        return
    shape = subject.root.lookup(error.schema_path[:-1])
    details: Any = error.kind
    # A rule of the block around the value may require it although the key alone does not.
    is_needed = "else" in error.schema_path
    if error.instance is None and not is_needed and (shape.nullable or _holder_nullable(subject, node)):
        return
    if shape.enum and {"type": node.kind == "scalar", "enum": not shape.fits(node.kind)}.get(keyword):
        # The validator reports both: the wrong type, and none of the allowed values.
        return
    match keyword:
        case "additionalProperties" | "unevaluatedProperties":
            _explain_unknown(subject, node, shape, frozenset(details.unexpected), collected)
        case "required":
            if not subject.may_lack(node):
                _explain_missing(subject, node, shape, details.property, collected)
        case "anyOf" | "oneOf":
            _explain_alternatives(subject, node, shape, error, collected)
        case "not":
            collected.problems.extend(_conflict(subject, node, shape))
        case "minProperties" | "maxProperties" if shape.exactly_one:
            problem = missing_keys.exactly_one(subject, node, shape.exactly_one)
            collected.nothing.append((node, shape.exactly_one, problem))
        case _:
            problem = _value_problem(subject, node, shape, keyword, error)
            problem = _where_it_counts(subject, node, error, problem)
            collected.problems.append(_of_merged(subject, node, error, problem))


def _explain_unknown(
    subject: Subject, mapping: Node, shape: Shape, unexpected: frozenset[str], collected: _Collected
) -> None:
    entries = collect(_unexpected(subject, mapping, shape, unexpected))
    unknown = [entry for entry, _ in entries]
    whole = entries[0][1] if entries else shape
    mistake = dedented_block(subject, mapping, shape, unknown) or of_another_type(
        subject, mapping, whole, unknown
    )
    if mistake is not None:
        collected.unknown.append(mistake.unknown)
    for entry, whole in entries:
        if mistake is None or entry.key.value not in mistake.keys:
            collected.unknown.append(unknown_key(subject, mapping, whole, entry))
        checkpoint()


def _unexpected(
    subject: Subject, mapping: Node, shape: Shape, unexpected: frozenset[str]
) -> Iterator[tuple[Entry, Shape]]:
    """Yield the entries with some keys, and the shape of their mapping.

    In a mapping with unparsed text a key may belong elsewhere, unless it is a typo of one that is due here.
    """
    whole = _whole(subject, mapping, shape)
    in_parts = subject.tree.broken(mapping)
    if in_parts and len(unexpected) > _MOST_SLIPS:
        return
    for entry in mapping.each_entry():
        key = entry.key.value
        if key not in unexpected or subject.tree.broken(entry.key):
            continue
        intended = typo_of(key, whole.properties) if in_parts else None
        if not in_parts or (intended is not None and mapping.entry(intended) is None):
            yield entry, whole


def _of_merged(subject: Subject, node: Node, error: ValidationError, problem: Problem) -> Problem:
    """Reword the problem of a value from ``<<``, which has to be fixed where it is written."""
    if node.step != MERGE_KEY or not error.instance_path or error.instance_path[-1] == MERGE_KEY:
        return problem
    written = subject.text[node.span.start : node.span.end]
    message = f"`{error.instance_path[-1]}` of `{written}` does not fit here; look at its value there."
    return replace(problem, message=message, fixes=())


def _explain_missing(subject: Subject, node: Node, shape: Shape, key: str, collected: _Collected) -> None:
    if subject.document_kind == "trigger_tests" and key == "skill" and node.parent is None:
        # ``suite_rules/trigger_skills.py`` knows the skill of the suite around the tests.
        return
    problem = missing_keys.missing_key(subject, node, _whole(subject, node, shape), key)
    collected.missing.append((node, key, problem))


def _explain_alternatives(
    subject: Subject, node: Node, shape: Shape, error: ValidationError, collected: _Collected
) -> None:
    if shape.at_least_one:
        if subject.may_lack(node):
            return
        whole = _whole(subject, node, shape)
        problem = missing_keys.nothing_given(subject, node, whole, shape.at_least_one)
        collected.nothing.append((node, shape.at_least_one, problem))
        return
    contexts = cast("list[list[ValidationError]]", getattr(error.kind, "context", []))
    chosen = shape.branch(node.kind, frozenset(entry.key.value for entry in node.entries))
    key = _distinguishing_key(shape)
    named = node.get(key) if key is not None and node.kind == "mapping" else None
    if key is not None and named is not None and named.kind == "scalar":
        tags = [branch.properties[key].shape for branch in shape.branches]
        allowed = [value for tag in tags for value in tag.enum]
        if named.value not in allowed:
            collected.problems.append(wrong_values.not_allowed(subject, named, tags[0], allowed))
            return
        chosen = shape.branches[allowed.index(named.value)]
    position = next((at for at, branch in enumerate(shape.branches) if branch is chosen), None)
    if position is not None and len(contexts) == len(shape.branches):
        for each in contexts[position]:
            _explain(subject, each, collected)
        return
    types = [name for branch in shape.branches for name in sorted(branch.types)]
    if not shape.fits(node.kind) and types:
        problem = wrong_values.wrong_type(subject, node, shape, types)
    else:
        problem = wrong_values.unfit(subject, node, shape)
    collected.problems.append(_where_it_counts(subject, node, error, problem))


def _distinguishing_key(shape: Shape) -> str | None:
    """Return the key that has a fixed value in each alternative of a mapping, None without one."""
    fixed = [
        {key for key, each in branch.properties.items() if "const" in each.shape.schema}
        for branch in shape.branches
    ]
    return min(set[str].intersection(*fixed), default=None) if fixed else None


def _where_it_counts(subject: Subject, node: Node, error: ValidationError, problem: Problem) -> Problem:
    """Return the problem of a value, moved to the alias that refers to it: it may be valid at its anchor."""
    alias = subject.alias(error.instance_path)
    if alias is None:
        return problem
    message = problem.message.replace(wrong_values.subject_of(node), wrong_values.subject_of(alias), 1)
    return replace(problem, span=alias.span, message=message, fixes=())


def _value_problem(
    subject: Subject, node: Node, shape: Shape, keyword: str, error: ValidationError
) -> Problem:
    kind: Any = error.kind
    if error.instance is None and keyword in {"type", "enum", "const"}:
        return missing_keys.empty_value(subject, node, shape)
    match keyword:
        case "type":
            return wrong_values.wrong_type(subject, node, shape, kind.types)
        case "enum" | "const":
            return wrong_values.not_allowed(subject, node, shape, shape.enum)
        case "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum":
            return wrong_values.out_of_range(subject, node, shape, _RELATIONS[keyword], kind.limit)
        case "minItems" | "minLength" | "minProperties":
            return wrong_values.empty(subject, node, shape, kind.limit)
        case "maxItems" | "maxLength" | "maxProperties":
            return wrong_values.too_many(subject, node, shape, kind.limit)
        case "pattern":
            return wrong_values.wrong_form(subject, node, shape)
        case _:
            return wrong_values.unfit(subject, node, shape)


def _conflict(subject: Subject, node: Node, shape: Shape) -> Iterator[Problem]:
    """Yield the problem of keys that exclude each other, at the last of them."""
    named = set(_required_keys(shape.schema.get("not", {})))
    present = [entry for entry in node.entries if entry.key.value in named]
    if not present:
        yield wrong_values.unfit(subject, node, shape)
        return
    message = shape.message or f"`{present[-1].key.value}` cannot be combined with the other keys"
    fixes = ()
    if len(present) == 2 and node.parent is not None and subject.tree.is_json:
        fixes = tuple(
            Fix(f"Delete `{entry.key.value}`", partial(delete_entry, subject.tree, entry))
            for entry in reversed(present)
        )
    severity = shape.severity or "error"
    yield Problem("conflicting-keys", present[-1].key.span, _sentence(message), severity, fixes)


def _required_keys(rule: Any) -> Iterator[str]:
    if isinstance(rule, dict):
        block = cast("dict[str, Any]", rule)
        yield from block.get("required", ())
        for part in block.values():
            yield from _required_keys(part)
    elif isinstance(rule, list):
        for part in cast("list[Any]", rule):
            yield from _required_keys(part)


def _whole(subject: Subject, node: Node, shape: Shape) -> Shape:
    """Return the shape of the mapping itself if the schema of the error is only a rule about it."""
    if shape.properties and "additionalProperties" in shape.schema:
        return shape
    return subject.shape_at(node) or shape


def _holder_nullable(subject: Subject, node: Node) -> bool:
    shape = subject.shape_at(node)
    return shape is not None and shape.nullable


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."
