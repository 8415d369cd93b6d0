"""Valid values that are probably not intended: typographic quotes, an escape, an item inside another."""

from __future__ import annotations

import re
from collections.abc import Iterator

from waza_engine.files import printable
from waza_engine.later_patterns import compiled_later
from waza_language_server.analysis.problem import Problem, Severity
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.escapes import in_single_quotes
from waza_language_server.syntax.frames import column_of
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

_BREAK = compiled_later(r"[\r\n]")
_PRINTED = compiled_later(r"[“„‟«‘‚]([^“„‟«‘‚”»]+)[”“‟»’‘]")


def printed_quotes(node: Node, shape: Shape) -> Iterator[Problem]:
    """Yield a string in typographic quotes."""
    match = _PRINTED.fullmatch(node.value)
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


def escaped_text(text: str, node: Node, shape: Shape) -> Iterator[Problem]:
    """Yield the first escape sequence in double quotes where a backslash and a letter were intended.

    In an assertion it is reported where Python finds it.
    """
    if shape.kind in _PATHS and _CONTROL.search(node.value) is not None:
        yield from _escaped_path(text, node)
    elif "\b" in node.value and shape.kind != "python.assertion":
        yield from _edge_of_word(text, node, shape)


def _edge_of_word(text: str, node: Node, shape: Shape) -> Iterator[Problem]:
    start, written = node.span.start, text[node.span.start : node.span.end]
    at = written.replace("\\\\", "  ").find("\\b")
    if at < 0:
        # A backspace that is written as a number, as `\x08`, is intended.
        return
    is_pattern = shape.kind == "regex"
    instead = ", not a word boundary" if is_pattern else ""
    message = f"`\\b` in double quotes is a backspace{instead}; write `\\\\b`."
    fixes = ()
    if _BREAK.search(written) is None:
        edit = in_single_quotes(text, Span(start, node.span.end))
        fixes = (Fix("Keep the backslashes", (edit,), preferred=is_pattern),)
    yield Problem("yaml-escape", Span(start + at, start + at + len("\\b")), message, "warning", fixes)


def _escaped_path(text: str, node: Node) -> Iterator[Problem]:
    start, end = node.span.start, node.span.end
    written = text[start:end]
    escaped = list(_ESCAPED_SIGN.finditer(written.replace("\\\\", "  ")))
    if not escaped or "\n" in written:
        return
    first = escaped[0]
    place = Span(start + first.start(), start + first.end())
    intended = re.sub(r"\\+", "/", written)
    message = f"`{first[0]}` is one invisible character in double quotes; a path is written with `/`."
    fix = Fix(f"Change to `{printable(intended)}`", (Edit(node.span, intended),))
    yield Problem("yaml-escape", place, message, "error", (fix,))


def items_inside(text: str, node: Node, shape: Shape) -> Iterator[Problem]:
    """Yield the problem of items that are indented further than the one above them.

    YAML reads each of them as one more line of the text above.
    """
    if _DASH_INSIDE not in node.value:
        return
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
