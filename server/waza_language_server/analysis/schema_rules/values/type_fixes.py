"""Fixes for a value of the wrong type: regrouped, without quotes, as a number."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from waza_engine.later_patterns import compiled_later
from waza_engine.spec.reading.scalars import resolve_scalar
from waza_language_server.analysis.schema_rules.graders.keyed_graders import list_of_keyed
from waza_language_server.analysis.schema_rules.meant.commands import command_of_words
from waza_language_server.analysis.schema_rules.meant.lists import (
    list_of_keys,
    lists_of_text,
    out_of_lists,
    pairs_of_list,
)
from waza_language_server.analysis.schema_rules.meant.metrics import metrics_by_name
from waza_language_server.analysis.schema_rules.meant.regrouping import (
    block_by_name,
    content_of_message,
    dash_before,
    files_by_path,
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
    list_due,
    only_list_of_texts,
)
from waza_language_server.analysis.schema_rules.subject import Subject
from waza_language_server.analysis.schema_rules.values.unlikely_values import THOUSANDS
from waza_language_server.schema.shape import Shape
from waza_language_server.syntax.frames import line_start_of
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.edit import Edit, Fix
from waza_language_server.text.span import Span

_ITEMS_WITH_OTHERS = 2
_FILE = compiled_later(r"(?!\{)\S+\.[a-z]+")
_LEADING_ZERO = compiled_later(r"[-+]?0[0-9_]")
"""Numbers that some parsers read as octal, others as decimal."""


def type_fixes(subject: Subject, node: Node, shape: Shape, expected: Sequence[str]) -> Iterator[Fix]:
    """Yield the fixes that convert a value to one of JSON Schema's expected types, the likeliest first."""
    found = 0
    for fix in _ways(subject, node, shape, expected):
        found += 1
        yield fix
    if not found and "string" not in expected and node.kind == "scalar" and len(node.span):
        yield from _as_comment(subject.text, node)


def _ways(subject: Subject, node: Node, shape: Shape, expected: Sequence[str]) -> Iterator[Fix]:
    if "string" in expected and (content := content_of_message(subject.text, node)) is not None:
        yield Fix("Write the `content` alone", (content,))
        return
    if "string" in expected and (command := tuple(command_of_words(subject, node, shape))):
        yield from command
        return
    yield from _named_file(subject, node)
    yield from _regrouped(subject, node, shape, expected)
    if node.kind == "scalar" and len(node.span) and node.green.tag is None:
        # With a tag the same words mean something else.
        yield from _written_otherwise(subject, node, shape, expected)


def _named_file(subject: Subject, node: Node) -> Iterator[Fix]:
    """Yield the key that takes a file's path instead: `schema: out.json` becomes `schema_file`."""
    holder, mapping = subject.entry(node), node.parent
    around = subject.shape_at(mapping) if mapping is not None else None
    if holder is None or mapping is None or around is None or node.kind != "scalar":
        return
    key = f"{holder.key.value}_file"
    if (
        key in around.branch("mapping").properties
        and key not in mapping.key_names
        and _FILE.fullmatch(node.value)
    ):
        yield Fix(f"Change to `{key}`", (Edit(holder.key.span, key),), reveals=True)


def _as_comment(text: str, node: Node) -> Iterator[Fix]:
    """Yield the fix that turns a note such as `- TODO` among the items of a list into a comment."""
    items, start = node.parent, node.span.start
    dash = text.rfind("-", 0, start)
    if items is None or items.kind != "sequence" or items.style == "flow" or dash < 0:
        return
    if len(items.green.children) < _ITEMS_WITH_OTHERS:
        return
    line = line_start_of(text, start)
    alone = not text[line:dash].strip(" ") and not text[dash + 1 : start].strip(" ")
    if alone and node.style == "plain" and "\n" not in text[start : node.span.end]:
        yield Fix("Turn the item into a comment", (Edit(Span(dash, dash), "# "),))


def _regrouped(subject: Subject, node: Node, shape: Shape, expected: Sequence[str]) -> Iterator[Fix]:
    items = shape.branch("sequence").items
    items = subject.catalog.any_grader if items is not None and items.kind == "grader" else items
    if "array" in expected and (listed := _as_list(subject, node, items)) is not None:
        yield from listed
    elif "object" in expected and (block := _without_list(subject.text, node, shape)) is not None:
        yield block
    elif "object" in expected and (mapping := _as_mapping(subject, node, shape)) is not None:
        yield mapping
    elif "string" in expected and (text := in_quotes(subject.text, node)) is not None:
        # A word before the colon may be a key of another notation, and one at the end a key of the next line.
        first = node.entries[0]
        is_text = not first.key.value.isidentifier() and len(first.value.span) > 0
        if not is_text and (value := only_value(subject.text, node)) is not None:
            yield Fix(f"Write the value without `{first.key.value}`", (value,))
        yield Fix("Put it in quotes", (text,), preferred=is_text)
    elif "string" in expected and (text := template_in_quotes(subject.text, node)) is not None:
        # Double braces are a template in many tools, and invalid in YAML.
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


def _without_list(text: str, node: Node, shape: Shape) -> Fix | None:
    """Return the fix that writes the items of a list as one mapping, or None."""
    if edits := block_by_name(text, node, shape):
        return Fix("Write each below its name", edits)
    if not (edits := without_dashes(text, node)):
        return None
    known = shape.branch("mapping").properties
    are_known = all(key in known for item in node.items for key in item.key_names)
    # Any key may be intended, but several in an item may be the values of one of them.
    are_pairs = not known and all(len(item.key_names) == 1 for item in node.items)
    title = "Remove the dashes" if len(edits) > 1 else "Remove the dash"
    return Fix(title, edits, preferred=are_known or are_pairs)


def _as_mapping(subject: Subject, node: Node, shape: Shape) -> Fix | None:
    """Return the fix that converts a list to a mapping; None if its keys are unknown."""
    if edits := pairs_of_list(subject.text, node, shape):
        return Fix("Write keys with values", edits)
    key = list_due(shape)
    edits = only_list_of_texts(subject, node, key) if key is not None else ()
    return Fix(f"Write `{key}: […]`", edits) if edits else None


def _as_list(subject: Subject, node: Node, items: Shape | None) -> tuple[Fix, ...] | None:
    """Return the fixes that convert a mapping to a list; None if it was not intended as one."""
    title, text = "Make it a list", subject.text
    if edits := list_of_keys(subject, node):
        return (Fix(title, edits),)
    if items is subject.catalog.any_grader:
        by_type = list_of_keyed(subject.catalog, text, node)
        if by_type is not None:
            # If a list cannot be written there, a type does not become a name.
            return (Fix(title, by_type, reveals=True),) if by_type else ()
    if items is not None and (edits := list_by_name(text, node, items)):
        return (Fix(title, edits, preferred=True, reveals=True),)
    if items is not None and (edits := files_by_path(text, node, items)):
        # A one-line string may be the file to copy.
        is_sure = all(entry.value.style in {"literal", "folded"} for entry in node.entries)
        return (Fix("Make it a list, with `path` and `content`", edits, preferred=is_sure),)
    if items is not None and (edits := only_list(text, node, items)):
        return (Fix(f"Write the list without `{node.entries[0].key.value}`", edits, reveals=True),)
    if items is not None and (metrics := tuple(metrics_by_name(text, node, items))):
        return metrics
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
        yield from _whole_numbers(node, int(value))
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


def _whole_numbers(node: Node, value: int) -> Iterator[Fix]:
    """Yield a fraction without its dot, if that may separate thousands, and its integer part."""
    meant = node.value.replace(".", "")
    for number in (meant, str(value)) if THOUSANDS.fullmatch(node.value) is not None else (str(value),):
        yield Fix(f"Change to `{number}`", (Edit(node.span, number),))


def _likely_numbers(node: Node, shape: Shape, *, whole: bool) -> Iterator[Fix]:
    """Yield the only number in a text, as in `<= 5`, and the usual one."""
    meant = _number(spelt_out(node.value), node, shape, whole=whole)
    number = meant.value if meant is not None else number_in(node.value, whole=whole)
    if number is not None and _is_in_range(float(number), shape):
        yield Fix(f"Change to `{number}`", (Edit(node.span, number),))
    yield from _usual_number(node, shape, but=number)


def _usual_number(node: Node, shape: Shape, but: str | None = None) -> Iterator[Fix]:
    """Yield the default number, or else one to start from."""
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
    """Return whether a number is within the limits of a shape, or of one of its branches."""
    limits = shape.schema
    return (
        limits.get("minimum", number) <= number <= limits.get("maximum", number)
        and limits.get("exclusiveMinimum", -math.inf) < number < limits.get("exclusiveMaximum", math.inf)
        and (not shape.branches or any(_is_in_range(number, branch) for branch in shape.branches))
    )


def _matches(value: Any, expected: Sequence[str]) -> bool:
    if isinstance(value, bool):
        return "boolean" in expected
    if isinstance(value, int):
        return "integer" in expected or "number" in expected
    return isinstance(value, float) and "number" in expected
