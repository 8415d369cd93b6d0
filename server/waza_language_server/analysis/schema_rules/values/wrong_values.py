"""Values that do not fit: another type, not one of the allowed ones, out of range, empty."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import partial
from itertools import islice
from typing import Any

from waza_engine.spec.reading.scalars import TYPED_BEGINNINGS as _TYPED
from waza_engine.spec.reading.scalars import is_not_finite, resolve_scalar
from waza_language_server.analysis.problem import Problem, Severity
from waza_language_server.analysis.schema_rules.graders.keyed_graders import list_of_keyed
from waza_language_server.analysis.schema_rules.meant.lists import list_of_keys, lists_of_text, out_of_lists
from waza_language_server.analysis.schema_rules.meant.print_signs import sign_behind
from waza_language_server.analysis.schema_rules.meant.regrouping import (
    dash_before,
    in_quotes,
    list_by_name,
    only_list,
    only_value,
    out_of_list,
    pair_in_quotes,
    spaces_behind_dashes,
    template_in_quotes,
    without_dashes,
)
from waza_language_server.analysis.schema_rules.meant.scalars import (
    Meant,
    in_front_of_comment,
    meant_number,
    meant_switch,
    number_in,
    spelt_out,
)
from waza_language_server.analysis.schema_rules.meant.wrapped_values import (
    blocks_of_text,
    expectation_of_list,
)
from waza_language_server.analysis.schema_rules.subject import Subject
from waza_language_server.schema.shape import Shape
from waza_language_server.spelling import listed, nearest, slip_of
from waza_language_server.syntax.edits import replace_scalar
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

_TYPE_NAMES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "`true` or `false`",
    "array": "a list",
    "object": "a mapping of keys",
    "null": "nothing",
}
_LEADING_ZERO = re.compile(r"[-+]?0[0-9_]")
"""Of which some readers make eight, others ten."""
_WORDS = re.compile(r"[a-z0-9]+")
_LOOKED_AT = 30
"""Keys beside one whose value may be meant for it."""
_OTHER_SWITCHES = frozenset(["yes", "Yes", "YES", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF"])
_SIXTIES = re.compile(r"[-+]?[1-9]\d*(?::[0-5]?\d)+")
"""What YAML 1.1 reads otherwise than 1.2; ``y`` and ``n`` are left alone, for PyYAML leaves them, too."""
TYPED_BEGINNINGS = _TYPED.union(word[0] for word in _OTHER_SWITCHES)
"""How values begin of which ``typed_as_text`` may say something: all others are passed by without a call."""


def wrong_type(subject: Subject, node: Node, shape: Shape, expected: Sequence[str]) -> Problem:
    """Return the problem of a value of another type than the schema wants."""
    if (
        "string" in expected
        and node.kind == "scalar"
        and node.style == "plain"
        and node.value
        and shape.takes_text(node.value)
    ):
        return _unquoted(node, shape.severity or "error")
    if shape.kind == "switch":
        # Text is allowed for its older spellings alone.
        expected = ("boolean",)
    wanted = _types_text(expected)
    message = f"{subject_of(node)} must be {wanted}, not {_found_text(node, expected)}."
    cause = sign_behind(subject, node, shape, block="object" in expected, listed="array" in expected)
    if cause is not None:
        why, fix = cause
        message, fixes = f"{message.rstrip('.')}: {why}.", (fix,)
    else:
        fixes = tuple(_type_fixes(subject, node, shape, expected))
        if "string" in expected and in_quotes(subject.text, node) is not None:
            message = f"{message.rstrip('.')}: the `: ` in it makes a key of its first words."
        elif "string" in expected and template_in_quotes(subject.text, node) is not None:
            message = f"{message.rstrip('.')}: `{{` begins one; put it in quotes."
    return Problem("wrong-type", subject.value_span(node), message, shape.severity or "error", fixes)


def not_allowed(subject: Subject, node: Node, shape: Shape, allowed: Sequence[object]) -> Problem:
    """Return the problem of a value that is none of the allowed ones."""
    allowed = [value for value in allowed if value is not None and value != ""]
    meant = nearest(node.value, [str(value) for value in allowed]) if node.kind == "scalar" else None
    guess = f"did you mean `{meant}`? It" if meant is not None else "it"
    written = f"`{shown}`" if (shown := _shown(node)) else "empty"
    message = f"{subject_of(node)} cannot be {written}; {guess} must be {listed(allowed)}."
    fixes = tuple(_replacements(subject, node, meant, allowed))
    return Problem("value-not-allowed", subject.value_span(node), message, shape.severity or "error", fixes)


def out_of_range(subject: Subject, node: Node, shape: Shape, relation: str, limit: object) -> Problem:
    """Return the problem of a number beyond its limit; ``relation`` reads like ``at least``."""
    message = f"{subject_of(node)} must be {relation} {limit}, not {_shown(node)}."
    fixes: tuple[Fix, ...] = ()
    if relation in {"at least", "at most"} and node.kind == "scalar":
        meant = _meant_number(node, shape, limit)
        fixes = tuple(Fix(f"Change to `{each}`", (Edit(node.span, each),)) for each in (*meant, str(limit)))
    return Problem("out-of-range", subject.value_span(node), message, shape.severity or "error", fixes)


def _meant_number(node: Node, shape: Shape, limit: object) -> tuple[str, ...]:
    """Return the number without its sign, or the share that was written in percent."""
    value = resolve_scalar(node.value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not isinstance(limit, int | float):
        return ()
    if value < 0 < limit and -value >= limit:
        return (node.value.removeprefix("-"),)
    is_share = limit == 1 and "integer" not in shape.types
    # Every digit that was written stays.
    exact = Decimal(node.value) if isinstance(value, float) else Decimal(value)
    return (f"{(exact / 100).normalize():f}",) if is_share and 1 < value <= 100 else ()


def empty(subject: Subject, node: Node, shape: Shape, least: int = 1) -> Problem:
    """Return the problem of a list, a text or a mapping with too little in it."""
    what = {"sequence": "item", "mapping": "key"}.get(node.kind, "character")
    amount = f"one {what}" if least == 1 else f"{least} {what}s"
    message = f"{subject_of(node)} is empty; it needs at least {amount}."
    if node.items or node.entries or node.value:
        message = f"{subject_of(node)} is too short; it needs at least {amount}."
    return Problem("empty-value", subject.value_span(node), message, shape.severity or "error")


def wrong_form(subject: Subject, node: Node, shape: Shape) -> Problem:
    """Return the problem of a text that breaks a rule of its form."""
    rule = shape.message or (
        "must not be blank" if not node.value.strip() else "does not have the right form"
    )
    message = f"{subject_of(node)} {rule.rstrip('.')}."
    severity = shape.severity or "error"
    if shape.kind == "switch":
        found = _found_text(node, ("boolean",))
        message = f"{subject_of(node)} must be `true` or `false`, not {found}."
        fixes = tuple(_type_fixes(subject, node, shape, ("boolean",)))
        return Problem("wrong-type", subject.value_span(node), message, severity, fixes)
    fixes = ()
    if shape.kind == "skill.name" and shape.takes_text(name := "-".join(_WORDS.findall(node.value.lower()))):
        fixes = (Fix(f"Change to `{name}`", partial(replace_scalar, subject.tree, node, name)),)
    return Problem("wrong-form", subject.value_span(node), message, severity, fixes)


def unfit(subject: Subject, node: Node, shape: Shape) -> Problem:
    """Return the problem of a value that breaks a rule without words of its own."""
    message = f"{subject_of(node)} does not fit here."
    if shape.message:
        message = f"{subject_of(node)}: {shape.message}"
    return Problem("wrong-form", subject.value_span(node), message, shape.severity or "error")


def too_many(subject: Subject, node: Node, shape: Shape, limit: int) -> Problem:
    """Return the problem of a list or a text that is too long."""
    message = f"{subject_of(node)} may have at most {limit} entries."
    return Problem("out-of-range", subject.value_span(node), message, shape.severity or "error")


def typed_as_text(subject: Subject, node: Node, shape: Shape) -> Iterator[Problem]:
    """Yield the hint that an unquoted number or boolean stands where text is meant: it is read as text."""
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
    """Yield the hint that readers of YAML 1.1 take a text for a switch or for a number to the base of 60.

    Ours and upstream's do not; PyYAML does, and so do tools that are made with it.
    """
    if node.value in _OTHER_SWITCHES:
        what = "true" if node.value.lower() in {"yes", "on"} else "false"
    elif _SIXTIES.fullmatch(node.value):
        what = "a number"
    else:
        return
    message = f"Readers of YAML 1.1 take `{node.value}` for {what}; put it in quotes."
    fix = Fix("Put it in quotes", (Edit(node.span, f'"{node.value}"'),))
    yield Problem("yaml-1-1", node.span, message, "hint", (fix,))


def _unquoted(node: Node, severity: Severity) -> Problem:
    what = "a boolean" if isinstance(resolve_scalar(node.value), bool) else "a number"
    message = f"`{node.value}` is {what} in YAML, and text is meant; put it in quotes."
    fix = Fix("Put it in quotes", (Edit(node.span, f'"{node.value}"'),), preferred=True)
    return Problem("unquoted-text", node.span, message, severity, (fix,))


def reversed_bounds(subject: Subject, mapping: Node, shape: Shape) -> Iterator[Problem]:
    """Yield pairs of numbers in a mapping of which the lower bound is above the upper one."""
    for low, high in shape.not_greater.items():
        first, second = mapping.get(low), mapping.get(high)
        if first is None or second is None:
            continue
        numbers = [node.target.to_python() for node in (first, second)]
        if len(numbers) == 2 and all(isinstance(n, int | float) for n in numbers):
            least, most = numbers
            if isinstance(least, int | float) and isinstance(most, int | float) and least > most:
                message = f"`{low}` ({first.value}) must not be greater than `{high}` ({second.value})."
                swap = (Edit(first.span, second.value), Edit(second.span, first.value))
                yield Problem("bounds-reversed", first.span, message, "error", (Fix("Swap the two", swap),))


def _type_fixes(subject: Subject, node: Node, shape: Shape, expected: Sequence[str]) -> Iterator[Fix]:
    yield from _regrouped(subject, node, shape, expected)
    if node.kind == "scalar" and len(node.span) and node.green.tag is None:
        # With a tag the same words mean something else.
        yield from _written_otherwise(subject, node, shape, expected)


def _regrouped(subject: Subject, node: Node, shape: Shape, expected: Sequence[str]) -> Iterator[Fix]:
    items = shape.branch("sequence").items
    items = subject.catalog.any_grader if items is not None and items.kind == "grader" else items
    if "array" in expected and (listed := _as_list(subject, node, items)) is not None:
        yield from listed
    elif "object" in expected and (edits := without_dashes(subject.text, node)):
        yield Fix("Remove the dashes" if len(edits) > 1 else "Remove the dash", edits, preferred=True)
    elif "object" in expected and (edits := expectation_of_list(subject, node, shape)):
        yield Fix("Write `output_contains: […]`", edits)
    elif "string" in expected and (text := in_quotes(subject.text, node)) is not None:
        # A word before the colon may be a key of another notation, and one at the end a key of the next line.
        first = node.entries[0]
        is_text = not first.key.value.isidentifier() and len(first.value.span) > 0
        if not is_text and (value := only_value(subject.text, node)) is not None:
            yield Fix(f"Write the value without `{first.key.value}`", (value,))
        yield Fix("Put it in quotes", (text,), preferred=is_text)
    elif "string" in expected and (text := template_in_quotes(subject.text, node)) is not None:
        # Two braces are a template in many tools, and nothing in YAML.
        yield Fix("Put it in quotes", (text,), preferred=subject.text.startswith("{{", node.span.start))
    elif "array" not in expected and (single := out_of_list(subject.text, node)) is not None:
        yield Fix("Write the value without the list", (single,), preferred=True)
    elif "array" not in expected and (edits := out_of_lists(subject.text, node)):
        yield Fix("Write the value without the inner list", edits)
    elif "string" in expected and (text := pair_in_quotes(subject.text, node)) is not None:
        yield Fix("Put it in quotes", (text,))
    elif "object" not in expected and (value := only_value(subject.text, node)) is not None:
        yield Fix(f"Write the value without `{node.entries[0].key.value}`", (value,))
    if not {"integer", "number"}.isdisjoint(expected) and node.kind != "scalar":
        yield from _usual_number(node, shape)


def _as_list(subject: Subject, node: Node, items: Shape | None) -> tuple[Fix, ...] | None:
    """Return the ways to make a list of a mapping; None when it is none that was meant to be a list."""
    title, text = "Make it a list", subject.text
    if edits := list_of_keys(subject, node):
        return (Fix(title, edits),)
    if items is subject.catalog.any_grader:
        by_type = list_of_keyed(subject.catalog, text, node)
        if by_type is not None:
            # Where there is no room for a list, no name is made of a type.
            return (Fix(title, by_type, reveals=True),) if by_type else ()
    if items is not None and (edits := list_by_name(text, node, items)):
        return (Fix(title, edits, preferred=True, reveals=True),)
    if items is not None and (edits := only_list(text, node, items)):
        return (Fix(f"Write the list without `{node.entries[0].key.value}`", edits, reveals=True),)
    dash = dash_before(text, node)
    return (Fix(title, (dash,), preferred=True),) if dash is not None else None


def _written_otherwise(subject: Subject, node: Node, shape: Shape, expected: Sequence[str]) -> Iterator[Fix]:
    value = resolve_scalar(node.value)
    before = in_front_of_comment(node.value) if node.style == "plain" else None
    if before is not None and _matches(resolve_scalar(before), expected):
        at = node.span.start + len(before)
        yield Fix("Write a blank in front of the comment", (Edit(Span(at, at), "  "),), preferred=True)
        return
    padded = _LEADING_ZERO.match(node.value) is not None
    if node.style != "plain" and _matches(value, expected) and not padded and "_" not in node.value:
        yield Fix("Remove the quotes", (Edit(node.span, node.value),), preferred=True)
    elif "boolean" in expected and (switch := meant_switch(node.value)) is not None:
        yield Fix(f"Write `{switch.value}`", (Edit(node.span, switch.value),), preferred=switch.sure)
    elif "integer" in expected and isinstance(value, float) and abs(value) < 1e15:
        yield Fix(f"Change to `{int(value)}`", (Edit(node.span, str(int(value))),))
    elif (
        not {"integer", "number"}.isdisjoint(expected)
        and (isinstance(value, str) or node.style != "plain")
        and (number := _number(node.value, node, shape, whole="number" not in expected)) is not None
    ):
        sure = number.sure and not padded
        yield Fix(f"Change to `{number.value}`", (Edit(node.span, number.value),), preferred=sure)
    elif not {"integer", "number"}.isdisjoint(expected) and expected != ("boolean",):
        yield from _likely_numbers(node, shape, whole="number" not in expected)
    elif "array" in expected:
        if edits := spaces_behind_dashes(subject.text, node):
            yield Fix(
                "Add a space after the dash" if len(edits) == 1 else "Add a space after each dash", edits
            )
        else:
            yield from lists_of_text(subject, node, shape)
    elif "object" in expected:
        yield from blocks_of_text(subject, node, shape)
    elif "boolean" in expected:
        for choice in ("true", "false"):
            yield Fix(f"Change to `{choice}`", (Edit(node.span, choice),))


def _likely_numbers(node: Node, shape: Shape, *, whole: bool) -> Iterator[Fix]:
    """Yield the only number that stands in a text, as in `<= 5`, and the usual one."""
    meant = _number(spelt_out(node.value), node, shape, whole=whole)
    number = meant.value if meant is not None else number_in(node.value, whole=whole)
    if number is not None and _is_in_range(float(number), shape):
        yield Fix(f"Change to `{number}`", (Edit(node.span, number),))
    yield from _usual_number(node, shape, but=number)


def _usual_number(node: Node, shape: Shape, but: str | None = None) -> Iterator[Fix]:
    """Yield the number that counts when nothing is written, or else one to start from."""
    known = [shape.default, *shape.examples]
    usual = next(
        (each for each in known if isinstance(each, int | float) and not isinstance(each, bool)), None
    )
    if usual is not None and str(usual) != but and _is_in_range(float(usual), shape):
        what = "the default" if usual == shape.default else "for example"
        yield Fix(f"Change to `{usual}`, {what}", (Edit(node.span, str(usual)),))


def _number(written: str, node: Node, shape: Shape, *, whole: bool) -> Meant | None:
    key = node.step if isinstance(node.step, str) else ""
    meant = meant_number(written, key, shape, whole=whole)
    return meant if meant is not None and _is_in_range(float(meant.value), shape) else None


def _is_in_range(number: float, shape: Shape) -> bool:
    """Whether a number keeps the limits of a shape, or of one of its branches."""
    limits = shape.schema
    return (
        limits.get("minimum", number) <= number <= limits.get("maximum", number)
        and limits.get("exclusiveMinimum", -math.inf) < number < limits.get("exclusiveMaximum", math.inf)
        and (not shape.branches or any(_is_in_range(number, branch) for branch in shape.branches))
    )


def _replacements(
    subject: Subject, node: Node, meant: str | None, allowed: Sequence[object]
) -> Iterator[Fix]:
    if node.kind != "scalar":
        return
    yield from _swaps(subject, node, allowed)
    slip = slip_of(node.value, [str(value) for value in allowed])
    choices = [meant] if meant is not None else []
    choices += [str(value) for value in allowed if str(value) != meant] if len(allowed) <= 6 else []
    for choice in choices:
        if choice:
            replaced = partial(replace_scalar, subject.tree, node, choice)
            yield Fix(f"Change to `{choice}`", replaced, preferred=choice == slip, reveals=choice == meant)


def _swaps(subject: Subject, node: Node, allowed: Sequence[object]) -> Iterator[Fix]:
    """Yield the exchange of a value with that of a key beside it, where each is right for the other."""
    around = node.parent if isinstance(node.step, str) else None
    for entry in islice(around.each_entry(), _LOOKED_AT) if around is not None else ():
        other, shape = entry.value, subject.shape_at(entry.value)
        if other.kind != "scalar" or other.value not in allowed or shape is None or shape.enum:
            continue
        if (
            "string" in shape.types
            and shape.takes_text(node.value)
            and not (node.green.anchor or other.green.anchor)
        ):
            texts = [subject.text[each.span.start : each.span.end] for each in (node, other)]
            edits = (Edit(node.span, texts[1]), Edit(other.span, texts[0]))
            yield Fix(f"Swap with `{entry.key.value}`", edits)
            return


def _matches(value: Any, expected: Sequence[str]) -> bool:
    if isinstance(value, bool):
        return "boolean" in expected
    if isinstance(value, int):
        return "integer" in expected or "number" in expected
    return isinstance(value, float) and "number" in expected


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
        endless = node.style == "plain" and is_not_finite(node.value)
        if endless:
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
    """Return how a sentence about a value begins."""
    if isinstance(node.step, str):
        return f"`{node.step}`"
    if isinstance(node.step, int):
        listed_in = node.parent.step if node.parent is not None else None
        return f"Every item of `{listed_in}`" if isinstance(listed_in, str) else "This item"
    return "The file"
