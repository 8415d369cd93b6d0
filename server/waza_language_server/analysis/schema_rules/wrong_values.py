"""Invalid values: another type, not one of the allowed ones, out of range, empty."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from waza_engine.later_patterns import compiled_later
from waza_engine.spec.reading.scalars import is_not_finite, resolve_scalar
from waza_engine.spelling import listed, nearest, typo_of
from waza_language_server.analysis.problem import Problem, Severity
from waza_language_server.analysis.schema_rules.coercions import (
    in_quotes,
    template_in_quotes,
    type_fixes,
)
from waza_language_server.analysis.schema_rules.subject import Subject
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.edits import replace_scalar
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.edit import Edit, Fix

_TYPE_NAMES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "`true` or `false`",
    "array": "a list",
    "object": "a mapping of keys",
    "null": "nothing",
}
_WORDS = compiled_later(r"[a-z0-9]+")
_OTHER_SWITCHES = frozenset(["yes", "Yes", "YES", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF"])
_SIXTIES = compiled_later(r"[-+]?[1-9]\d*(?::[0-5]?\d)+")
"""Base-60 numbers: YAML 1.1 reads them, 1.2 does not. ``y`` and ``n`` are left alone, as in PyYAML."""


def wrong_type(subject: Subject, node: Node, shape: Shape, expected: Sequence[str]) -> Problem:
    """Return the problem of a value of another type than the schema requires."""
    if (
        "string" in expected
        and node.kind == "scalar"
        and node.style == "plain"
        and node.value
        and shape.takes_text(node.value)
    ):
        return _unquoted(node, shape.severity or "error", " in YAML" if not subject.tree.is_json else "")
    if shape.kind == "switch":
        # Strings are allowed only for older spellings.
        expected = ("boolean",)
    wanted = _types_text(expected)
    message = f"{subject_of(node)} must be {wanted}, not {_found_text(node, expected)}."
    fixes = tuple(type_fixes(subject, node, shape, expected))
    if "string" in expected and in_quotes(subject.text, node) is not None:
        message = f"{message.rstrip('.')}: the `: ` in it turns its first words into a key."
    elif "string" in expected and template_in_quotes(subject.text, node) is not None:
        message = f"{message.rstrip('.')}: `{{` begins one; put it in quotes."
    return Problem("wrong-type", subject.value_span(node), message, _severity_of_type(subject, shape), fixes)


def _severity_of_type(subject: Subject, shape: Shape) -> Severity:
    """Return the severity of a wrong type: loading rejects it, even if it tolerates values out of range.

    Only the frontmatter of a skill is loaded without it.
    """
    return (shape.severity if subject.document_kind == "skill" else None) or "error"


def not_allowed(subject: Subject, node: Node, shape: Shape, allowed: Sequence[object]) -> Problem:
    """Return the problem of a value that is not one of the allowed ones."""
    allowed = [value for value in allowed if value is not None and value != ""]
    intended = nearest(node.value, [str(value) for value in allowed]) if node.kind == "scalar" else None
    guess = f"did you mean `{intended}`? It" if intended is not None else "it"
    written = f"`{shown}`" if (shown := _shown(node)) else "empty"
    message = f"{subject_of(node)} cannot be {written}; {guess} must be {listed(allowed)}."
    fixes = tuple(_replacements(subject, node, intended, allowed))
    # Forks of upstream have other executors, but none with a misspelt name.
    is_typo = shape.kind == "executor" and any(fix.preferred for fix in fixes)
    severity = "error" if is_typo else shape.severity or "error"
    return Problem("value-not-allowed", subject.value_span(node), message, severity, fixes)


def out_of_range(subject: Subject, node: Node, shape: Shape, relation: str, limit: object) -> Problem:
    """Return the problem of a number beyond its limit; ``relation`` reads like ``at least``."""
    message = f"{subject_of(node)} must be {relation} {limit}, not {_shown(node)}."
    fixes: tuple[Fix, ...] = ()
    if relation in {"at least", "at most"} and node.kind == "scalar":
        fixes = (Fix(f"Change to `{limit}`", (Edit(node.span, str(limit)),)),)
    return Problem("out-of-range", subject.value_span(node), message, shape.severity or "error", fixes)


def empty(subject: Subject, node: Node, shape: Shape, least: int = 1) -> Problem:
    """Return the problem of a list, a string or a mapping with too few elements."""
    what = {"sequence": "item", "mapping": "key"}.get(node.kind, "character")
    amount = f"one {what}" if least == 1 else f"{least} {what}s"
    message = f"{subject_of(node)} is empty; it needs at least {amount}."
    if node.items or node.entries or node.value:
        message = f"{subject_of(node)} is too short; it needs at least {amount}."
    return Problem("empty-value", subject.value_span(node), message, shape.severity or "error")


def wrong_form(subject: Subject, node: Node, shape: Shape) -> Problem:
    """Return the problem of a string that breaks a rule of its format."""
    rule = shape.message or (
        "must not be blank" if not node.value.strip() else "does not have the right form"
    )
    message = f"{subject_of(node)} {rule.rstrip('.')}."
    severity = shape.severity or "error"
    if shape.kind == "switch":
        found = _found_text(node, ("boolean",))
        message = f"{subject_of(node)} must be `true` or `false`, not {found}."
        fixes = tuple(type_fixes(subject, node, shape, ("boolean",)))
        return Problem("wrong-type", subject.value_span(node), message, severity, fixes)
    fixes = ()
    if shape.kind == "skill.name" and shape.takes_text(name := "-".join(_WORDS.findall(node.value.lower()))):
        fixes = (Fix(f"Change to `{name}`", partial(replace_scalar, subject.tree, node, name)),)
    elif shape.kind == "json.path" and shape.takes_text(path := f"$.{node.value.lstrip('$.')}"):
        fixes = (Fix(f"Change to `{path}`", partial(replace_scalar, subject.tree, node, path)),)
    return Problem("wrong-form", subject.value_span(node), message, severity, fixes)


def unfit(subject: Subject, node: Node, shape: Shape) -> Problem:
    """Return the problem of a value that breaks a rule without a message of its own."""
    message = f"{subject_of(node)} does not fit here."
    if shape.message:
        message = f"{subject_of(node)}: {shape.message}"
    return Problem("wrong-form", subject.value_span(node), message, shape.severity or "error")


def too_many(subject: Subject, node: Node, shape: Shape, limit: int) -> Problem:
    """Return the problem of a list or a string that is too long."""
    message = f"{subject_of(node)} may have at most {limit} entries."
    return Problem("out-of-range", subject.value_span(node), message, shape.severity or "error")


def typed_as_text(subject: Subject, node: Node, shape: Shape) -> Iterator[Problem]:
    """Yield the hint that an unquoted number or boolean is read as a string where one is due."""
    green = node.green
    if green.kind != "scalar" or green.style != "plain" or not shape.reads_all_as_text:
        return
    if green.start == green.end or green.tag is not None:
        return
    value = resolve_scalar(green.value)
    if value is None:
        return
    if isinstance(value, str):
        yield from _read_otherwise(node)
        return
    if isinstance(value, bool) and "boolean" not in shape.types:
        return
    yield _unquoted(node, "information")


def _read_otherwise(node: Node) -> Iterator[Problem]:
    """Yield the hint that YAML 1.1 parsers read a string as a switch or as a base-60 number.

    Ours and upstream's do not; PyYAML does, and so do tools that use it.
    """
    if node.value in _OTHER_SWITCHES:
        what = "true" if node.value.lower() in {"yes", "on"} else "false"
    elif _SIXTIES.fullmatch(node.value):
        what = "a number"
    else:
        return
    message = f"YAML 1.1 reads `{node.value}` as {what}; put it in quotes."
    fix = Fix("Put it in quotes", (Edit(node.span, f'"{node.value}"'),))
    yield Problem("yaml-1-1", node.span, message, "hint", (fix,))


def _unquoted(node: Node, severity: Severity, where: str = " in YAML") -> Problem:
    what = "a boolean" if isinstance(resolve_scalar(node.value), bool) else "a number"
    message = f"`{node.value}` is {what}{where}, but a string is expected; put it in quotes."
    fix = Fix("Put it in quotes", (Edit(node.span, f'"{node.value}"'),), preferred=True)
    return Problem("unquoted-text", node.span, message, severity, (fix,))


def reversed_bounds(subject: Subject, mapping: Node, shape: Shape) -> Iterator[Problem]:
    """Yield pairs of bounds in a mapping whose lower bound is above the upper one."""
    for low, high in shape.not_greater.items():
        first, second = mapping.get(low), mapping.get(high)
        if first is None or second is None:
            continue
        least, most = first.target.to_python(), second.target.to_python()
        if isinstance(least, int | float) and isinstance(most, int | float) and least > most:
            message = f"`{low}` ({first.value}) must not be greater than `{high}` ({second.value})."
            swap = (Edit(first.span, second.value), Edit(second.span, first.value))
            yield Problem("bounds-reversed", first.span, message, "error", (Fix("Swap the two", swap),))


def _replacements(
    subject: Subject, node: Node, intended: str | None, allowed: Sequence[object]
) -> Iterator[Fix]:
    if node.kind != "scalar":
        return
    typo = typo_of(node.value, [str(value) for value in allowed])
    choices = [intended] if intended is not None else []
    choices += [str(value) for value in allowed if str(value) != intended] if len(allowed) <= 6 else []
    for choice in choices:
        if choice:
            replaced = partial(replace_scalar, subject.tree, node, choice)
            yield Fix(f"Change to `{choice}`", replaced, preferred=choice == typo, reveals=choice == intended)


def _types_text(expected: Sequence[str]) -> str:
    names = [name for name in expected if name != "null"]
    if "string" in names:
        names = [name for name in names if name not in {"number", "integer", "boolean"}]
    texts = list(dict.fromkeys(_TYPE_NAMES.get(name, name) for name in names))
    return " or ".join(texts) if texts else "left out"


def _found_text(node: Node, expected: Sequence[str]) -> str:
    if node.kind == "sequence":
        return "a list"
    if node.kind == "mapping":
        return "a mapping"
    value = node.to_python()
    if value is None:
        return "empty"
    if isinstance(value, str):
        if node.style == "plain" and is_not_finite(node.value):
            return f"`{_shown(node)}`, which is not finite"
        is_single = {"array", "object", "string"}.isdisjoint(expected)
        return f"the text `{_shown(node)}`" if is_single and node.style == "plain" else "text"
    return f"`{_shown(node)}`"


def _shown(node: Node) -> str:
    if node.kind != "scalar":
        return "a list" if node.kind == "sequence" else "a mapping"
    shown = node.value.replace("\n", " ")
    return shown if len(shown) <= 40 else f"{shown[:39]}…"


def subject_of(node: Node) -> str:
    """Return the beginning of a message about a value."""
    if isinstance(node.step, str):
        return f"`{node.step}`"
    if isinstance(node.step, int):
        listed_in = node.parent.step if node.parent is not None else None
        return f"Every item of `{listed_in}`" if isinstance(listed_in, str) else "This item"
    return "The file"
