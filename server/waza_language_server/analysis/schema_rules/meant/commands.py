"""A command as a list of its words, as other tools expect it: `command: [bash, check.sh]`."""

from __future__ import annotations

from collections.abc import Iterator

from waza_language_server.analysis.schema_rules.subject import Subject
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.author_style import line_break
from waza_language_server.syntax.frames import column_of
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

_ARGUMENTS = "args"


def command_of_words(subject: Subject, node: Node, shape: Shape) -> Iterator[Fix]:
    """Yield the fix that writes a list of words as the program and its arguments, or as one line.

    The line is split at white space again and supports no quotes, so no word may contain any.
    """
    words = node.items if node.kind == "sequence" else ()
    if shape.kind != "command" or len(words) < 2 or node.parent is None:
        return
    if any(each.green.anchor is not None or each.green.tag is not None for each in (node, *words)):
        return
    if any(word.kind != "scalar" or not word.value for word in words):
        return
    around = subject.shape_at(node.parent)
    if around is not None and _ARGUMENTS in around.properties:
        edit = _with_arguments(subject, node) if node.parent.entry(_ARGUMENTS) is None else None
        if edit is not None:
            yield Fix(f"Write the arguments in `{_ARGUMENTS}`", (edit,), preferred=True)
    elif not any(sign in word.value for word in words for sign in " \t\r\n#:,[]{}\"'"):
        edit = _replaced(subject, node, " ".join(word.value for word in words))
        if edit is not None:
            yield Fix("Write it on one line", (edit,), preferred=True)


def _with_arguments(subject: Subject, node: Node) -> Edit | None:
    text, first, second = subject.text, node.items[0].span, node.items[1].span
    holder = subject.entry(node)
    if holder is None or node.parent is None:
        return None
    program = text[first.start : first.end]
    next_line = line_break(text) + " " * column_of(text, holder.key.span.start)
    if node.style == "flow":
        parted = ", " if node.parent.style == "flow" else next_line
        return _replaced(
            subject, node, f"{program}{parted}{_ARGUMENTS}: [{text[second.start : node.span.end]}"
        )
    colon = text.find(":", holder.key.span.end, node.span.start) + 1
    if not colon or text[colon : first.start].strip() != "-" or "\n" in program:
        return None
    return Edit(Span(colon, first.end), f" {program}{next_line}{_ARGUMENTS}:")


def _replaced(subject: Subject, node: Node, written: str) -> Edit | None:
    """Return the edit that writes text after the key of a list; None if more than the list would be lost."""
    text, holder = subject.text, subject.entry(node)
    colon = text.find(":", holder.key.span.end, node.span.start) + 1 if holder is not None else 0
    lost = text[colon : node.span.end]
    if not colon or (node.style == "flow" and "\n" in lost) or " #" in lost:
        return None
    return Edit(Span(colon, node.span.end), f" {written}")
