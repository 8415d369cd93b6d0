"""Valid values that are probably not intended: a time in another unit, octal digits, typographic quotes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from waza_engine.later_patterns import compiled_later
from waza_engine.spec.reading.scalars import resolve_scalar
from waza_language_server.analysis.problem import Problem, Severity
from waza_language_server.analysis.schema_rules.scalar_coercions import milliseconds_of
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.escapes import quoted
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

_SECOND = 1_000
_HOUR = 3_600
_TOO_LONG = 60_000
"""Seconds: 16 hours. Round numbers of that size are minutes in milliseconds."""
_OPENING = "“„‟«‘‚"
_BEGINNINGS = frozenset(f"{_OPENING}123456789")
_SEVERAL_PRINTED = compiled_later(r"(?:[“„‟«‘‚][^“„‟«‘‚”»]+[”“‟»’‘]\s*)+")
_TAG = compiled_later(r"![\w.,;-]+")
_MOST_BLANKS = 20
_BREAK = compiled_later(r"[\r\n]")
THOUSANDS = compiled_later(r"[1-9]\d{0,2}\.\d{3}")
_OCTAL = compiled_later(r"0+[1-7][0-7]+")
_PRINTED = compiled_later(r"[“„‟«‘‚]([^“„‟«‘‚”»]+)[”“‟»’‘]")


_NAMES = frozenset({"model", "skill.name"})
"""Kinds of strings that are names of existing things."""
_REPLACING = frozenset({"!env", "!var", "!secret", "!ref", "!sub", "!include"})
"""Tags of other tools that insert a value."""
_VARIABLE = compiled_later(r"\$\w+|\$?\{.+\}")
_TO_FILL = compiled_later(r"<[^<>]+>")
_LEFT_OPEN = frozenset({"TODO", "TBD", "FIXME"})
_NOTHING = frozenset({"None", "nil", "undefined"})
_NO_NAMES = _LEFT_OPEN | _NOTHING


def may_be_no_name(value: str) -> bool:
    """Return whether a string that is not empty may be a placeholder for a name."""
    return value[0] in "$<" or value in _NO_NAMES


def no_name(node: Node, shape: Shape) -> Iterator[Problem]:
    """Yield placeholders where a name is due: a variable, a template's gap, `None`."""
    if shape.kind not in _NAMES:
        return
    severity: Severity = "warning"
    if _VARIABLE.fullmatch(node.value) is not None:
        # Another program may insert it before a run reads the file.
        message, severity = f"No run puts a value for `{node.value}`; write the name itself.", "information"
    elif node.value in _NOTHING:
        message = f"`{node.value}` is a text for YAML and taken for a name; leave the key out."
    elif node.value in _LEFT_OPEN or _TO_FILL.fullmatch(node.value) is not None:
        message = f"`{node.value}` is left to be filled in; write the name that is meant."
    else:
        return
    yield Problem("unlikely-value", node.span, message, severity)


def may_be_unlikely(value: str) -> bool:
    """Return whether a string that is not empty needs a closer check: most do not."""
    return value[0] in _BEGINNINGS or (value[0] == "0" and _OCTAL.fullmatch(value) is not None)


def unlikely_values(node: Node, shape: Shape) -> Iterator[Problem]:
    """Yield unlikely meanings of a scalar for which ``may_be_unlikely`` holds."""
    if node.style != "plain":
        return
    if node.value[0] in _OPENING:
        yield from _printed_quotes(node, shape)
    elif _OCTAL.fullmatch(node.value) is not None:
        yield from _octal(node, shape)
    elif THOUSANDS.fullmatch(node.value) is not None:
        yield from _thousands(node, shape)
    elif node.value.isdigit() and isinstance(node.step, str):
        yield from _other_unit(node, node.step)


def tag_for_text(text: str, node: Node, shape: Shape) -> Iterator[Problem]:
    """Yield a tag that was intended as a text that begins with `!`: the value is empty, and the text is lost.

    If the value is not due to be a string, or is one of a few words, the empty value is reported already.
    """
    span = tag_alone(text, node)
    if span is not None and _is_of_any_text(shape):
        tag = text[span.start : span.end]
        message = f"`{tag}` is a tag for YAML, and its value is empty; put it in quotes."
        fix = Fix("Put it in quotes", (Edit(span, quoted(tag)),))
        yield Problem("unlikely-value", span, message, "warning", (fix,))


def tag_before_text(text: str, node: Node, shape: Shape) -> Iterator[Problem]:
    """Yield a tag that was intended as a text beginning with `!`: YAML removes it from the text.

    Before a single word it may be intended as a tag for other tools; a name alone needs none.
    """
    tag = node.green.tag or ""
    start = text.rfind(tag, max(0, node.span.start - len(tag) - _MOST_BLANKS), node.span.start)
    is_apart = text[start + len(tag) : node.span.start].strip(" \t")
    if not _is_of_any_text(shape) or _TAG.fullmatch(tag) is None or is_apart:
        return
    if " " not in node.value:
        if shape.kind in _NAMES and tag.lower() in _REPLACING:
            message = f"`{tag}` is a tag that no run knows, so `{node.value}` is taken for the name itself."
            yield Problem("unlikely-value", Span(start, start + len(tag)), message, "warning")
        return
    message = f"`{tag}` is a tag for YAML, and no part of this text; put all of it in quotes."
    whole = Span(start, node.span.end)
    fixes = ()
    if not _BREAK.search(text, whole.start, whole.end):
        fixes = (Fix("Put it in quotes", (Edit(whole, quoted(text[whole.start : whole.end])),)),)
    yield Problem("unlikely-value", Span(start, start + len(tag)), message, "warning", fixes)


def _is_of_any_text(shape: Shape) -> bool:
    return (not shape.types or "string" in shape.types) and not shape.enum and shape.kind != "switch"


def tag_alone(text: str, node: Node) -> Span | None:
    """Return the span of a tag that is followed by an empty value."""
    tag, end = node.green.tag or "", node.span.end
    start = text.rfind(tag, max(0, end - len(tag) - 2), end) if tag[:1] == "!" and len(tag) > 1 else -1
    is_alone = node.kind == "scalar" and node.style == "plain" and start >= 0 and not len(node.span)
    return Span(start, start + len(tag)) if is_alone else None


def _printed_quotes(node: Node, shape: Shape) -> Iterator[Problem]:
    match = _PRINTED.fullmatch(node.value)
    parts = _PRINTED.findall(node.value) if _SEVERAL_PRINTED.fullmatch(node.value) is not None else []
    if len(parts) > 1 and node.parent is not None and node.parent.kind == "sequence":
        yield _without_commas(node, parts)
        return
    # Other rules report values that are not one of a few words, and invalid expressions.
    if (
        match is None
        or shape.enum
        or shape.kind == "python.assertion"
        or ("string" not in shape.types and shape.types)
    ):
        return
    first, last = node.value[0], node.value[-1]
    message = f"`{first}` and `{last}` are a part of this text; the quotes of YAML are `\"` and `'`."
    quoted = match[1].replace("'", "''")
    fix = Fix("Write plain quotes", (Edit(node.span, f"'{quoted}'"),))
    yield Problem("unlikely-value", node.span, message, "information", (fix,))


def _without_commas(node: Node, parts: Sequence[str]) -> Problem:
    """Return the problem of strings in typographic quotes without separators: one item for YAML."""
    message = "This is one item for YAML; the quotes are a part of it, and no comma divides it."
    items = ", ".join(quoted(part) for part in parts)
    in_brackets = node.parent is not None and node.parent.style == "flow"
    fixes = (Fix(f"Make it {len(parts)} items", (Edit(node.span, items),)),) if in_brackets else ()
    return Problem("unlikely-value", node.span, message, "information", fixes)


def _octal(node: Node, shape: Shape) -> Iterator[Problem]:
    if "string" in shape.types or not shape.types & {"integer", "number"}:
        return
    meant = node.value.lstrip("0")
    read = int(node.value, 8)
    message = f"YAML reads `{node.value}` as {read}, for a 0 in front makes it octal; write `{meant}`."
    fix = Fix(f"Change to `{meant}`", (Edit(node.span, meant),))
    yield Problem("unlikely-value", node.span, message, "warning", (fix,))


def _thousands(node: Node, shape: Shape) -> Iterator[Problem]:
    """Yield a dot between thousands: if a whole number is due, three digits after one are no fraction."""
    if "integer" not in shape.types or "number" in shape.types or int(node.value.partition(".")[2]):
        # Another rule reports fractions.
        return
    meant, read = node.value.replace(".", ""), node.value.partition(".")[0]
    message = f"YAML reads `{node.value}` as {read}, for the dot begins a fraction; write `{meant}`."
    fix = Fix(f"Change to `{meant}`", (Edit(node.span, meant),))
    yield Problem("unlikely-value", node.span, message, "warning", (fix,))


def _other_unit(node: Node, key: str) -> Iterator[Problem]:
    counted = milliseconds_of(key)
    value = resolve_scalar(node.value)
    if counted is None or isinstance(value, bool) or not isinstance(value, int):
        return
    if counted == _SECOND and value >= _TOO_LONG and not value % _SECOND and value % _HOUR:
        meant = value // _SECOND
        message = f"`{key}` counts seconds, and {value} seconds are {value // _HOUR} hours."
    elif counted == 1 and key.startswith("max_") and 0 < value < _SECOND:
        meant = value * _SECOND
        message = f"`{key}` counts milliseconds, and no agent answers in {value} of them."
    else:
        return
    fix = Fix(f"Change to `{meant}`", (Edit(node.span, str(meant)),))
    yield Problem("unlikely-value", node.span, message, "information", (fix,))
