"""Long answers are serialized in pieces: a keystroke does not wait for thousands of lenses or numbers.

Architecture invariant: the result equals that of ``json.dumps`` for the entire value.
"""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from waza_engine.steps import Steps

    Plain = Callable[[object], object]
    """Makes plain data of values of the protocol."""

LONG = 500
"""The most items of a list that are still serialized in one piece, as all other answers are."""
_AT_ONCE = 100
_NUMBERS_AT_ONCE = 10_000


def is_long(value: object) -> bool:
    """Return whether a value is a long list, or a value of the protocol that holds one, or a list of such."""
    if isinstance(value, list):
        listed = cast("list[object]", value)
        return len(listed) > LONG or any(map(_long_lists, listed))
    return bool(_long_lists(value))


def written(value: object, plain: Plain) -> Steps[str]:
    """Return a value of the protocol as JSON, with a pause after each piece."""
    yield
    if isinstance(value, list):
        return f"[{', '.join((yield from _items(cast('list[object]', value), plain)))}]"
    lists = _long_lists(value)
    if not lists:
        return json.dumps(plain(value))
    without = copy.copy(value)
    for name in lists:
        object.__setattr__(without, name, [])
    rest = cast("Mapping[str, object]", plain(without))
    parts = [f"{json.dumps(name)}: {json.dumps(each)}" for name, each in rest.items() if name not in lists]
    for name, each in lists.items():
        parts.append(f"{json.dumps(name)}: {(yield from written(each, plain))}")
    return f"{{{', '.join(parts)}}}"


def _items(values: list[object], plain: Plain) -> Steps[list[str]]:
    """Return the JSON of the items of a list, several of them together."""
    texts: list[str] = []
    size = _NUMBERS_AT_ONCE if values and type(values[0]) is int else _AT_ONCE
    for start in range(0, len(values), size):
        some = values[start : start + size]
        if any(map(_long_lists, some)):
            for each in some:
                text = yield from written(each, plain)
                texts.append(text)
        else:
            texts.append(json.dumps(plain(some))[1:-1])
        yield
    return texts


def _long_lists(value: object) -> dict[str, list[object]]:
    """Return the lists in the fields of a value of the protocol that are long, or hold one that is.

    Only fields whose name is one word are considered: the others have different names on the wire.
    """
    fields: Sequence[Any] = getattr(type(value), "__attrs_attrs__", ())
    found = ((each.name, getattr(value, each.name)) for each in fields if "_" not in each.name)
    lists = ((name, cast("list[object]", each)) for name, each in found if isinstance(each, list))
    return {name: each for name, each in lists if len(each) > LONG or any(map(_long_lists, each))}
