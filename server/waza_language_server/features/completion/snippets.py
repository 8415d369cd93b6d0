"""Snippets: YAML or JSON with placeholders, in the layout of the file around them.

They have the syntax of editors: ``${1:text}`` is a placeholder with a default, ``${1|a,b|}`` a choice, ``$0``
the final cursor. Lines after the first are relative to the indentation of the line that they are inserted in.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from waza_engine.later_patterns import compiled_later
from waza_language_server.features.hover.shape_text import value_text
from waza_language_server.syntax.author_style import line_break
from waza_language_server.syntax.frames import column_of
from waza_language_server.syntax.nodes import Node
from waza_language_server.syntax.placed_text import line_end
from waza_language_server.syntax.tree import Tree, parse

if TYPE_CHECKING:
    from waza_language_server.schema.shape import Shape

_PLACEHOLDER = compiled_later(r"(?<!\\)(?:\$\{\d+:((?:[^\\}]|\\.)*)\}|\$\{\d+\|((?:[^\\|]|\\.)*)\|\}|\$\d+)")
_ESCAPED = compiled_later(r"\\([\\$}])")
_SUGGESTED_KINDS = frozenset({"model", "executor", "task.glob"})


def plain_text(snippet: str) -> str:
    """Return a snippet as plain text: with the defaults of its placeholders, and with first choices."""

    def resolve(match: re.Match[str]) -> str:
        choices = match[2].split(",")[0] if match[2] is not None else ""
        return match[1] if match[1] is not None else choices

    return _ESCAPED.sub(r"\1", _PLACEHOLDER.sub(resolve, snippet))


def escaped(text: str) -> str:
    """Return text escaped for a snippet."""
    return re.sub(r"([\\$}])", r"\\\1", text)


_MOST_LOOKED_INTO = 50


class Layout:
    """How a file is written: how far lists are indented below their key, and what ends a line."""

    def __init__(self, tree: Tree) -> None:
        self.line_break = line_break(tree.text)
        self.list_indent = 2
        value = _first_block_list(tree.root) if tree.root is not None else None
        if value is not None:
            holder = value.holder
            key_column = column_of(tree.text, holder.key.span.start if holder is not None else 0)
            self.list_indent = max(0, min(column_of(tree.text, value.span.start) - key_column, 8))


def value_snippet(shape: Shape, layout: Layout) -> str:
    """Return the text to write after the colon of a key."""
    if shape.enum and shape.kind != "grader.type":
        return f" {_choice([value_text(value) for value in shape.enum if value not in {None, ''}])}"
    branch = _main_branch(shape)
    types = branch.types - {"null"}
    if "string" in types or not types:
        if branch.kind == "prompt.text":
            return " |\n  $1"
        example = branch.examples[0] if branch.examples and branch.kind in _SUGGESTED_KINDS else None
        return f" ${{1:{escaped(value_text(example))}}}" if example is not None else " $1"
    if "array" in types:
        pad = " " * layout.list_indent
        return f"\n{pad}- {_item(branch, layout)}"
    if "object" in types:
        keys = _first_keys(branch)
        return (
            "".join(f"\n  {key}:{_short_value(value, n)}" for n, (key, value) in enumerate(keys, 1))
            or "\n  $1"
        )
    if "boolean" in types and len(types) == 1:
        return f" {_choice(['false', 'true'] if branch.default is True else ['true', 'false'])}"
    return _number(branch, 1)


def json_snippet(shape: Shape, number: int = 1) -> str:
    """Return a value as JSON with one placeholder, which has this number."""
    place, branch = f"${number}", _main_branch(shape)
    types = branch.types - {"null"}
    if "array" in types:
        items = branch.items
        return f'["{place}"]' if items is None or items.fits("scalar") else f"[{{{place}}}]"
    if "string" in types and not any(isinstance(each, int) for each in branch.examples):
        return f'"{place}"'
    return f"{{{place}}}" if "object" in types else place


def json_item_snippet(shape: Shape) -> str:
    """Return a new object of a list with its required keys, and one key of an "at least one" group."""
    keys = (*shape.required, *shape.at_least_one[:1])
    pairs = (
        f'"{key}": {json_snippet(shape.properties[key].shape, number)}'
        for number, key in enumerate(dict.fromkeys(keys), 1)
    )
    return f"{{{', '.join(pairs)}}}"


def item_snippet(shape: Shape) -> str:
    """Return a new item of a list of mappings: its first keys."""
    keys = _first_keys(shape)
    lines = [f"{key}:{_short_value(value, number)}" for number, (key, value) in enumerate(keys, 1)]
    return "\n  ".join(lines)


def grader_snippet(text: str, layout: Layout, *, without: Sequence[str] = ()) -> str:
    """Return a sample grader (``- type: …``) as a snippet without its dash, and without some of its keys.

    Lines after the first are indented as the content of the item is: by two.
    """
    tree = parse(text)
    entry = tree.root.get(0) if tree.root is not None else None
    if entry is None:
        return ""
    parts: list[str] = []
    number = 0
    for pair in entry.entries:
        key = pair.key.value
        if key in without:
            continue
        source = text[pair.key.span.start : line_end(text, pair.value.span.end)]
        if key == "type":
            parts.append(escaped(source))
            continue
        filled, number = _with_placeholders(text, pair.key.span.start, pair.value, source, number)
        parts.append(_relaid(filled, layout))
    return "\n  ".join(parts)


def _with_placeholders(text: str, start: int, value: Node, source: str, number: int) -> tuple[str, int]:
    """Return an entry with each one-line scalar as a placeholder, and the last number used."""
    filled = ""
    done = start
    keys = {id(pair.key.green) for node in value.walk() for pair in node.entries}
    for node in value.walk():
        multi_line = node.style in {"literal", "folded"}
        if node.kind != "scalar" or id(node.green) in keys or multi_line or not len(node.span):
            continue
        quoted = node.style in {"single", "double"}
        inner = slice(node.span.start + quoted, node.span.end - quoted)
        number += 1
        filled += escaped(text[done : inner.start]) + f"${{{number}:{escaped(text[inner])}}}"
        done = inner.stop
    return filled + escaped(text[done : start + len(source)]), number


def _relaid(text: str, layout: Layout) -> str:
    """Return a sample with its lists indented as in the file; samples indent them by two below their key."""
    if layout.list_indent == 2:
        return text
    lines = text.split("\n")
    shift = 0
    holder = 0
    for index, line in enumerate(lines):
        indent = len(line) - len(line.lstrip(" "))
        if line.lstrip().startswith("- ") and not shift:
            shift, holder = layout.list_indent - 2, indent - 2
        elif indent <= holder:
            shift = 0
        if shift:
            lines[index] = " " * max(0, indent + shift) + line.lstrip(" ")
    return "\n".join(lines)


def _first_keys(shape: Shape) -> list[tuple[str, Shape]]:
    """Return the keys that a new mapping starts with: the required ones, or else the first."""
    shape = shape.branch("mapping")
    wanted = [*shape.required, *(one.key for one in shape.recommended if one.severity != "hint")]
    for choice in (shape.at_least_one, shape.exactly_one):
        if choice and not any(key in wanted for key in choice):
            wanted.append(choice[0])
    names = [name for name in shape.properties if name in wanted] or list(shape.properties)[:1]
    return [(name, shape.properties[name].shape) for name in names]


def _short_value(shape: Shape, number: int) -> str:
    if shape.enum and shape.kind != "grader.type":
        choices = _choice([value_text(value) for value in shape.enum if value not in {None, ""}])
        return " " + choices.replace("${1|", f"${{{number}|")
    types = _main_branch(shape).types
    if "array" in types and "string" not in types:
        return f" [${number}]"
    return _number(_main_branch(shape), number)


def _number(shape: Shape, place: int) -> str:
    """Return a placeholder; its default is the example or the default of the shape if that is a number."""
    numbers = [*shape.examples, *([shape.default] if shape.has_default else [])]
    number = next(
        (value for value in numbers if isinstance(value, int | float) and value and value is not True), None
    )
    return f" ${{{place}:{value_text(number)}}}" if number is not None else f" ${place}"


def _item(shape: Shape, layout: Layout) -> str:
    items = shape.items
    if items is None:
        return "$1"
    branch = _main_branch(items)
    if branch.kind == "grader":
        return "type: $1"
    if branch.types & {"object"}:
        return item_snippet(branch).replace("\n", "\n" + " " * layout.list_indent)
    if items.kind in _SUGGESTED_KINDS and branch.examples:
        return f"${{1:{escaped(str(branch.examples[0]))}}}"
    return '"$1"' if items.kind == "python.assertion" else "$1"


def _main_branch(shape: Shape) -> Shape:
    """Return the alternative to write in new files: the first one that is not deprecated."""
    if not shape.branches:
        return shape
    best = next((branch for branch in shape.branches if not branch.deprecated), shape.branches[0])
    return _main_branch(best)


def _choice(values: Sequence[str]) -> str:
    shown = (re.sub(r"([\\,|$}])", r"\\\1", value) for value in values)
    return f"${{1|{','.join(shown)}|}}"


def _first_block_list(root: Node) -> Node | None:
    """Return the first list in block style that is the value of a key, of those nearest to the top."""
    level = [root]
    for _ in range(4):
        below: list[Node] = []
        for node in level:
            for index, child in enumerate(node.green.children):
                green = child.green
                if node.kind == "mapping" and index % 2:
                    if (green.kind, green.style) == ("sequence", "block"):
                        return node.nth_child(index)
                    if green.kind == "mapping" and len(below) < _MOST_LOOKED_INTO:
                        below += filter(None, (node.nth_child(index),))
        level = below
    return None
