r"""Writing a value back as YAML in the author's style, as long as that style can represent it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from waza_engine.later_patterns import compiled_later
from waza_engine.spec.reading.scalars import resolve_scalar
from waza_language_server.syntax.libyaml_events import read
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.scalar_decoding import decode
from waza_language_server.text.span import Span

# Compiled at first use: such large character sets take milliseconds.
_ESCAPED = compiled_later('["\\\\\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]')

_CONTROL = compiled_later("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")

_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_OTHER_READERS = compiled_later(
    r"(?i:y|n|yes|no|on|off|true|false|null|~)\Z|[-+]?[\d_]+(?::[0-5]?\d)+(?:\.\d*)?\Z|0[0-7_]+\Z|\d{4}-\d\d?-\d\d?"
    r"|(?i:[-+]?\.inf|\.nan)\Z|<<\Z|=\Z"
)
"""Strings that another parser reads as a boolean, a number, a date, or a special value of YAML 1.1."""


def write_scalar(source: str, node: Node, value: str) -> str:
    """Return the source of a scalar with a new value, to replace the node's span."""
    if node.kind == "scalar" and value == node.value and len(node.span):
        return source[node.span.start : node.span.end]
    written = next(filter(None, _candidates(source, node, value)), None) or double_quoted(value)
    sticks = not len(node.span) and source[node.span.start - 1 : node.span.start] in {":", "-", "?"}
    return " " + written if sticks else written


def plain_or_quoted(value: str, *, flow: bool = False, typed: bool = False) -> str:
    """Return the simplest way to write a string on one line.

    ``typed`` allows it to be read as a number or the like.
    """
    plain = _plain(value, flow=flow, typed=typed)
    if plain is not None:
        return plain
    if _CONTROL.search(value) or ("'" in value and '"' not in value and "\\" not in value):
        return double_quoted(value)
    return single_quoted(value) or double_quoted(value)


def double_quoted(value: str) -> str:
    """Return a string in double quotes on one line, for YAML and JSON; this works for every string."""
    return '"' + _ESCAPED.sub(_escape, value) + '"'


def single_quoted(value: str) -> str | None:
    """Return a string in single quotes on one line; None if it has characters that need an escape."""
    return None if _CONTROL.search(value) else "'" + value.replace("'", "''") + "'"


def written_part(value: str, style: str) -> str | None:
    """Return a part of a scalar as it is written in this style on one line; None if it cannot be."""
    if style == "double":
        return double_quoted(value)[1:-1]
    if _CONTROL.search(value):
        return None
    return value.replace("'", "''") if style == "single" else value


def is_plain(value: str, *, flow: bool = False) -> bool:
    """Return whether a string may be written without quotes, on any lines."""
    return _plain(" ".join(value.split("\n")), flow=flow, typed=False) is not None


def _candidates(source: str, node: Node, value: str) -> Iterator[str | None]:
    flow = is_in_flow(node)
    style = node.style if node.kind == "scalar" else "plain"
    if style in {"literal", "folded"}:
        yield _block(source, node, value, folded=style == "folded")
        if style == "folded":
            yield _block(source, node, value, folded=False)
    if style == "double":
        yield double_quoted(value)
    if style == "single":
        yield single_quoted(value)
    if style == "plain":
        was_text = isinstance(resolve_scalar(node.value, tag=node.green.tag), str)
        yield _plain(value, flow=flow, typed=not was_text)
    yield plain_or_quoted(value, flow=flow)


def _plain(value: str, *, flow: bool, typed: bool) -> str | None:
    if not value or _CONTROL.search(value) or (flow and "?" in value):
        # In brackets older parsers end a text at its question mark.
        return None
    if not typed and (not isinstance(resolve_scalar(value), str) or _OTHER_READERS.match(value)):
        return None
    text = f"[{value}]" if flow else f"a: {value}"
    reading = read(text)
    root = reading.root
    if reading.error is not None or root is None or len(root.children) != (1 if flow else 2):
        return None
    child = root.children[-1].green
    whole = (child.kind, child.style, child.value, child.tag, child.anchor) == (
        "scalar",
        "plain",
        value,
        None,
        None,
    )
    return value if whole else None


def _block(source: str, node: Node, value: str, *, folded: bool) -> str | None:
    """Write a block scalar at the columns of the old one, with the comment after its indicator."""
    body = value.rstrip("\n")
    ends = len(value) - len(body)
    if not body or _CONTROL.search(body.replace("\n", "").replace("\t", "")):
        return None
    old = decode(source, node.span, node.style, node.value)
    indent = old.indent if old.indent > 0 else _column(source, node.span.start) + 2
    rows = body.split("\n")
    if any(row.startswith("\t") or (row and not row.strip()) for row in rows):
        return None
    digits = "".join(char for char in old.signs if char.isdigit())
    if ends > 1:
        # Empty lines after the text belong to the value but are outside the span, so their number cannot
        # change.
        if "+" not in old.signs or ends != len(node.value) - len(node.value.rstrip("\n")):
            return None
        chomping = "+"
    else:
        chomping = "" if ends else "-"
    line_break = "\r\n" if "\r\n" in source else "\n"
    if folded:
        rows = _fold(rows)
    content = line_break.join(" " * indent + row if row else "" for row in rows)
    mark = ">" if folded else "|"
    comment = source[node.span.start : node.span.end].splitlines()[0][1 + len(old.signs) :].rstrip()
    text = f"{mark}{digits}{chomping}{comment}{line_break}{content}"
    if ends and not source.startswith(("\r", "\n"), node.span.end):
        text += line_break
    breaks = line_break * max(ends, 1)
    style = "folded" if folded else "literal"
    check = decode(text.rstrip("\r\n") + breaks, Span(0, len(text.rstrip("\r\n"))), style, value)
    return text if check.value == value and check.indent == indent else None


def _fold(lines: list[str]) -> list[str]:
    """Return the lines of a folded scalar: one line per paragraph, a break being written as a blank line."""
    rows: list[str] = []
    for index, row in enumerate(lines):
        after_text = bool(rows) and bool(rows[-1]) and rows[-1][0] not in " \t"
        after_blank = index > 0 and not rows[-1] and any(rows)
        if row and row[0] not in " \t" and (after_text or after_blank):
            rows.append("")
        rows.append(row)
    return rows


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    short = _SHORT.get(char)
    if short is not None:
        return short
    return f"\\u{ord(char):04x}"


def is_in_flow(node: Node) -> bool:
    """Return whether a node is in brackets."""
    above = node.parent
    while above is not None:
        if above.style == "flow":
            return True
        above = above.parent
    return False


def _column(source: str, offset: int) -> int:
    """Return the indentation of the line that holds the offset."""
    start = max(source.rfind("\n", 0, offset), source.rfind("\r", 0, offset)) + 1
    row = source[start:offset]
    return len(row) - len(row.lstrip(" "))


def write_block(value: Any, column: int, ending: str) -> str:
    """Return a value in block style; its lines after the first begin at ``column``."""
    return f"{ending}{' ' * column}".join(_lines(value))


def write_flow(value: Any) -> str:
    """Return a value on one line, in brackets."""
    if isinstance(value, Mapping):
        entries = cast("Mapping[str, Any]", value).items()
        return (
            "{"
            + ", ".join(f"{plain_or_quoted(key, flow=True)}: {write_flow(each)}" for key, each in entries)
            + "}"
        )
    if isinstance(value, list):
        return f"[{', '.join(write_flow(item) for item in cast('Sequence[Any]', value))}]"
    return _scalar(value, flow=True)


def _lines(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping) and value:
        for key, each in cast("Mapping[str, Any]", value).items():
            yield from _entry(f"{plain_or_quoted(key)}:", each, below=_is_filled(each))
    elif isinstance(value, list) and value:
        for item in cast("Sequence[Any]", value):
            yield from _entry("-", item, below=False)
    else:
        yield _scalar(value) if not isinstance(value, Mapping | list) else write_flow(value)


def _is_filled(value: Any) -> bool:
    return value not in ({}, []) and isinstance(value, Mapping | list)


def _entry(sign: str, value: Any, *, below: bool) -> Iterator[str]:
    rows = list(_lines(value))
    if below:
        yield sign
        yield from (f"  {row}" for row in rows)
    else:
        yield f"{sign} {rows[0]}"
        yield from (f"  {row}" for row in rows[1:])


def _scalar(value: Any, *, flow: bool = False) -> str:
    if isinstance(value, str):
        return plain_or_quoted(value, flow=flow)
    # A whole number needs no fraction.
    return json.dumps(int(value) if isinstance(value, float) and value.is_integer() else value)
