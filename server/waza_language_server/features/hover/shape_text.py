"""Descriptions of a key's value for hover and completion: signature, type, limits, notes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from waza_engine.later_patterns import compiled_later

if TYPE_CHECKING:
    from waza_language_server.schema.shape import Shape

_MEANING = compiled_later(r"`([^`]+)` means (\w+(?: \w+){0,2})\b(?=[.,;])")
"""How a description explains its default."""
MAX_ALLOWED = 12


def signature(name: str, shape: Shape) -> str:
    """Return one line such as ``max_tool_calls: integer ≥ 0 = 0``."""
    words = f"{name}: {describe_type(shape)}"
    if shape.has_default and shape.default is not None:
        words += f" = {value_text(shape.default)}"
        meaning = _MEANING.search(shape.description)
        if meaning and meaning[1] == value_text(shape.default):
            words += f" ({meaning[2]})"
    return words


def describe_type(shape: Shape) -> str:
    """Return the type of a value: ``integer ≥ 0``, ``"any_order" | "exact"``, ``list of text``."""
    if shape.kind in {"grader", "grader.type"}:
        return "grader" if shape.kind == "grader" else "grader type"
    if shape.enum:
        shown = [value_text(value) for value in shape.enum if value is not None]
        return " | ".join(shown[:MAX_ALLOWED]) + (" | …" if len(shown) > MAX_ALLOWED else "")
    if shape.branches:
        return " or ".join(dict.fromkeys(describe_type(branch) for branch in shape.branches))
    types = shape.types - {"null"}
    if not types:
        return "any value"
    if "object" in types:
        return "mapping"
    if "array" in types:
        return f"list of {describe_type(shape.items)}" if shape.items is not None else "list"
    if "string" in types:
        # Strings also accept plain numbers and booleans, but the author intends a string.
        return {"python.assertion": "Python expression", "regex": "regular expression"}.get(
            shape.kind or "", "text"
        )
    return " or ".join(sorted(types)) + _limits(shape)


def value_text(value: Any) -> str:
    """Return a value as it is written in a suite file."""
    if isinstance(value, str):
        return value if value.replace("-", "").replace("_", "").isalnum() else json.dumps(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, ensure_ascii=False)


def notes(shape: Shape) -> Iterator[str]:
    """Yield notes about a value: that it is deprecated, without effect, new, or needed."""
    if shape.deprecated:
        successor = f"; write `{shape.replaced_by}` instead." if shape.replaced_by else "."
        yield f"**Deprecated**{f': {shape.deprecation}' if shape.deprecation else successor}"
    if shape.inert:
        yield f"**No effect:** {shape.inert}"
    if shape.since:
        yield f"**Since** {shape.since}."
    if shape.at_least_one:
        yield f"At least one of {_listed(shape.at_least_one)} is needed."
    if shape.exactly_one:
        yield f"Exactly one of {_listed(shape.exactly_one)} is needed."


def _limits(shape: Shape) -> str:
    parts: list[str] = []
    for keyword, sign in (
        ("minimum", "≥"),
        ("exclusiveMinimum", ">"),
        ("maximum", "≤"),
        ("exclusiveMaximum", "<"),
    ):
        limit = shape.schema.get(keyword)
        if isinstance(limit, int | float):
            parts.append(f"{sign} {value_text(limit)}")
    return f" {' and '.join(parts)}" if parts else ""


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)
