"""Valid values that are probably not intended: another unit, octal digits, typographic quotes, an escape."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from waza_engine.files import shown
from waza_engine.later_patterns import compiled_later
from waza_engine.spec.reading.scalars import resolve_scalar
from waza_language_server.analysis.problem import Problem, Severity
from waza_language_server.analysis.schema_rules.scalar_coercions import milliseconds_of
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.escapes import in_single_quotes, quoted
from waza_language_server.syntax.frames import column_of
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
        message, severity = f"A run does not replace `{node.value}`; write the name itself.", "information"
    elif node.value in _NOTHING:
        message = f"`{node.value}` is a string in YAML and read as a name; delete the key."
    elif node.value in _LEFT_OPEN or _TO_FILL.fullmatch(node.value) is not None:
        message = f"`{node.value}` is a placeholder; write the intended name."
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
        message = f"`{tag}` is a YAML tag, and its value is empty; put it in quotes."
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
            message = f"`{tag}` is an unknown tag, so `{node.value}` is read as the name itself."
            yield Problem("unlikely-value", Span(start, start + len(tag)), message, "warning")
        return
    message = f"`{tag}` is a YAML tag, not part of this string; put the entire string in quotes."
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
    message = f"`{first}` and `{last}` are part of this string; the quotes of YAML are `\"` and `'`."
    quoted = match[1].replace("'", "''")
    fix = Fix("Write plain quotes", (Edit(node.span, f"'{quoted}'"),))
    yield Problem("unlikely-value", node.span, message, "information", (fix,))


def _without_commas(node: Node, parts: Sequence[str]) -> Problem:
    """Return the problem of strings in typographic quotes without separators: one item for YAML."""
    message = "YAML reads this as one item; the quotes are part of it, and commas do not split it."
    items = ", ".join(quoted(part) for part in parts)
    in_brackets = node.parent is not None and node.parent.style == "flow"
    fixes = (Fix(f"Make it {len(parts)} items", (Edit(node.span, items),)),) if in_brackets else ()
    return Problem("unlikely-value", node.span, message, "information", fixes)


def _octal(node: Node, shape: Shape) -> Iterator[Problem]:
    if "string" in shape.types or not shape.types & {"integer", "number"}:
        return
    meant = node.value.lstrip("0")
    read = int(node.value, 8)
    message = f"YAML reads `{node.value}` as {read}, because the leading 0 makes it octal; write `{meant}`."
    fix = Fix(f"Change to `{meant}`", (Edit(node.span, meant),))
    yield Problem("unlikely-value", node.span, message, "warning", (fix,))


def _thousands(node: Node, shape: Shape) -> Iterator[Problem]:
    """Yield a dot between thousands: if a whole number is due, three digits after one are no fraction."""
    if "integer" not in shape.types or "number" in shape.types or int(node.value.partition(".")[2]):
        # Another rule reports fractions.
        return
    meant, read = node.value.replace(".", ""), node.value.partition(".")[0]
    message = f"YAML reads `{node.value}` as {read}, because the dot starts a fraction; write `{meant}`."
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


_DASH_INSIDE = " - "
"""The dash of an over-indented item below a text, as it appears within that text."""
_READ_BY_PEOPLE = frozenset({"criteria"})
"""Lists whose items are read by people or models, not compared: dashes in one may be a list of its own."""
_DASH_OF_LINE = compiled_later(r"(?m)^(?P<lead> +)- +(?=\S)")
_PATHS = frozenset(
    {"path.fixture", "path.suite", "path.workspace", "path.skill", "path.repository", "task.glob", "glob"}
)
_ESCAPED_SIGN = compiled_later(r"\\(?P<letter>[abtnvfre0])")
_CONTROL = compiled_later(r"[\x00-\x1f]")


def may_hold_items(value: str) -> bool:
    """Return whether ``items_inside`` may report something about a plain scalar. Cheaper than calling it."""
    return _DASH_INSIDE in value


def may_be_escaped(node: Node, shape: Shape) -> bool:
    """Return whether ``escaped_text`` may report something about a double-quoted scalar."""
    return "\b" in node.green.value or (
        shape.kind in _PATHS and _CONTROL.search(node.green.value) is not None
    )


def escaped_text(text: str, node: Node, shape: Shape) -> Iterator[Problem]:
    """Yield the first escape sequence in double quotes where a backslash and a letter were intended.

    In an assertion it is reported where Python finds it.
    """
    if shape.kind in _PATHS:
        yield from _escaped_path(text, node)
    elif shape.kind != "python.assertion":
        yield from _edge_of_word(text, node, shape)


def _edge_of_word(text: str, node: Node, shape: Shape) -> Iterator[Problem]:
    start, written = node.span.start, text[node.span.start : node.span.end]
    at = written.replace("\\\\", "  ").find("\\b")
    if at < 0:
        # A backspace that is written as a number, as `\x08`, is intended.
        return
    is_pattern = shape.kind == "regex"
    instead = ", not a word boundary" if is_pattern else ""
    message = (
        f"`\\b` in double quotes is a backspace{instead}; put the text in single quotes or write `\\\\b`."
    )
    fixes = ()
    if _BREAK.search(written) is None:
        edit = in_single_quotes(text, Span(start, node.span.end))
        title = "Use single quotes, which keep backslashes as they are"
        fixes = (Fix(title, (edit,), preferred=is_pattern),)
    yield Problem("yaml-escape", Span(start + at, start + at + len("\\b")), message, "warning", fixes)


def _escaped_path(text: str, node: Node) -> Iterator[Problem]:
    start, end = node.span.start, node.span.end
    written = text[start:end]
    escaped = list(_ESCAPED_SIGN.finditer(written.replace("\\\\", "  ")))
    if not escaped or "\n" in written:
        return
    first = escaped[0]
    place = Span(start + first.start(), start + first.end())
    meant = re.sub(r"\\+", "/", written)
    message = f"`{first[0]}` is one invisible character in double quotes; a path is written with `/`."
    fix = Fix(f"Change to `{shown(meant)}`", (Edit(node.span, meant),))
    yield Problem("yaml-escape", place, message, "error", (fix,))


def items_inside(text: str, node: Node, shape: Shape) -> Iterator[Problem]:
    """Yield the problem of items that are indented further than the one above them.

    YAML reads each of them as one more line of the text above.
    """
    items, start = node.parent, node.span.start
    dash = text.rfind("-", 0, start)
    if (
        items is None
        or items.kind != "sequence"
        or items.style == "flow"
        or text[dash + 1 : start].strip(" ")
    ):
        return
    inside = list(_DASH_OF_LINE.finditer(text, start, node.span.end))
    if not inside:
        return
    column = column_of(text, dash)
    edits = tuple(Edit(Span(each.start(), each.end("lead")), " " * column) for each in inside)
    columns = {len(each["lead"]) for each in inside}
    first = inside[0]
    place = Span(first.end("lead"), first.end("lead") + 1)
    what, side = "item is further to the right than the one above", "this dash is part of its text"
    if (
        len(inside) > 1
        and len(items.items) == 1
        and len(columns) == 1
        and not text[dash - column : dash].strip(" ")
    ):
        # All others are at the right column for this one.
        edits = (Edit(Span(dash, dash), " " * (min(columns) - column)),)
        place = Span(dash, dash + 1)
        what, side = "item is further to the left than those below", "they are part of its text"
    title = "Align the item" if len(edits) == 1 else "Align the items"
    severity: Severity = "error" if shape.kind == "python.assertion" else "warning"
    if items.step in _READ_BY_PEOPLE:
        severity = "information"
    fix = Fix(title, edits)
    yield Problem(
        "yaml-indentation", place, f"This {what}, so for YAML {side}; align them.", severity, (fix,)
    )
