"""Values that are strings because of a typographic or foreign character in place of YAML's own.

With `prompt： x` below it `inputs:` is valid YAML, and so is a list with `•`; only the schema shows that
keys, or a list, belong there.
"""

from __future__ import annotations

import re

from waza_engine.later_patterns import compiled_later
from waza_language_server.analysis.schema_rules.subject import Subject
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.wrong_signs import (
    KEY_WITH_SIGN,
    colon_fix,
    dash_fix,
    dash_message,
    has_odd_blank,
    sign_message,
    sign_of_item,
    wrong_indent,
)
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

Cause = tuple[str, Fix]
"""A clause that names the cause, and the fix."""

_LINES = compiled_later(r"[^\r\n]+")
_SLASHES = compiled_later(r"(?:(?<=\s)|^)//(?=[ \t]|\Z)", re.MULTILINE)


def sign_behind(subject: Subject, node: Node, shape: Shape, *, block: bool, listed: bool) -> Cause | None:
    """Return the character that makes a value a string, where a mapping (``block``) or a list is due."""
    start = node.span.start
    bullet = sign_of_item(subject.text, start) if listed and node.style in {"plain", "block"} else None
    if bullet is not None:
        return _bullets(subject.text, node, bullet)
    if node.kind != "scalar" or node.style != "plain":
        return None
    if block and (cause := _colons(subject.text, node, shape)) is not None:
        return cause
    slashes = _SLASHES.search(subject.text[start : node.span.end])
    if slashes is None:
        return None
    at = start + slashes.start()
    fix = Fix("Write `#` for `//`", (Edit(Span(at, at + 2), "#"),))
    return "a comment starts with `#`, not with `//`", fix


def odd_indent(subject: Subject, key: Node) -> tuple[Span, str, Fix] | None:
    """Return the span of whitespace before a key that YAML reads as letters, the message, and the fix."""
    blanks = len(key.value) - len(key.value.lstrip())
    if key.style != "plain" or not blanks or not has_odd_blank(key.value[:blanks]):
        return None
    line_start = max(subject.text.rfind(sign, 0, key.span.start) for sign in "\r\n") + 1
    fault = wrong_indent(line_start, key.span.start + blanks, key.span.end)
    return fault.span, fault.message, fault.fixes[0]


def _bullets(text: str, node: Node, bullet: str) -> Cause:
    """Return the dashes to replace the bullets of a list: those at its column."""
    start = node.span.start
    column = start - (max(text.rfind(sign, 0, start) for sign in "\r\n") + 1)
    offsets = [start]
    for line in _LINES.finditer(text, start, node.span.end):
        at = line.start() + column
        is_alone = not text[line.start() : at].strip(" ")
        if line.start() > start and is_alone and at < line.end() and text.startswith(bullet, at):
            offsets.append(at)
    fix = dash_fix(text, tuple(offsets), bullet)
    message = dash_message(bullet).rstrip(".")
    return f"{message[:1].lower()}{message[1:]}", fix


def _colons(text: str, node: Node, shape: Shape) -> Cause | None:
    """Return the missing colons after a key that the mapping knows, and after the keys below it."""
    first = KEY_WITH_SIGN.match(text, node.span.start, node.span.end)
    if first is None or first["key"] not in shape.branch("mapping").properties:
        return None
    matches = [first]
    for line in _LINES.finditer(text, first.end(), node.span.end):
        at = line.start() + len(line[0]) - len(line[0].lstrip(" -"))
        match = KEY_WITH_SIGN.match(text, at, line.end())
        if match is not None and match["sign"].strip() == first["sign"].strip():
            matches.append(match)
    edits = tuple(edit for match in matches for edit in colon_fix(match).edits)
    message = sign_message(first["key"], first["sign"]).rstrip(".")
    return f"{message[:1].lower()}{message[1:]}", Fix(colon_fix(first).title, edits, preferred=True)
