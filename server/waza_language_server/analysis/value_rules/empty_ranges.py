"""Bounds of an argument with no number between them: the matcher accepts no call."""

from __future__ import annotations

from collections.abc import Iterator

from waza_language_server.analysis.problem import Problem
from waza_language_server.syntax.nodes import Node
from waza_language_server.text.edit import Edit, Fix, Related

LOWER, UPPER = ("gte", "gt"), ("lte", "lt")


def empty_ranges(mapping: Node, keys: set[str]) -> Iterator[Problem]:
    """Yield the lower bound of a range without any number in it."""
    if mapping.step != "range":
        return
    for low in LOWER:
        for high in UPPER:
            first = mapping.get(low) if low in keys else None
            second = mapping.get(high) if high in keys else None
            least, most = _number(first), _number(second)
            if first is None or second is None or least is None or most is None:
                continue
            touching = least == most and (low, high) != ("gte", "lte")
            if least <= most and not touching:
                continue
            message = f"No number lies between `{low}` ({first.value}) and `{high}` ({second.value})."
            fixes: tuple[Fix, ...] = ()
            if not touching:
                swap = (Edit(first.span, second.value), Edit(second.span, first.value))
                fixes = (Fix("Swap the two", swap),)
            related = (Related(second.span, f"`{high}` stands here."),)
            yield Problem("bounds-reversed", first.span, message, "warning", fixes, related)
            return


def _number(node: Node | None) -> int | float | None:
    value = node.to_python() if node is not None and node.kind == "scalar" else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
