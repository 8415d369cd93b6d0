"""The small path language of adapter files.

``$.a.b``, ``$.a[0]``, ``$.[0]``, ``$.a[*]``, or a literal word in single quotes. ``[*]`` ends the path: it
gives the list, and what follows is left out. There are no filters, no slices and no negative numbers. Missing
values are None, and so is null.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, cast

_PART = re.compile(r"([^\[\]]*)(?:\[([0-9]+|\*)\])?")
_WILDCARD = "*"
_Step = tuple[str, str | None]


def find(path: str, value: Any) -> Any:
    """Return the value at a path, None when there is none."""
    steps = _steps(path)
    if isinstance(steps, str) or steps is None:
        return steps
    for name, index in steps:
        if name:
            value = _property(value, name)
        if index == _WILDCARD:
            return cast("list[Any]", value) if isinstance(value, list) else None
        if index is not None:
            value = _item(value, int(index))
        if value is None:
            return None
    return value


def is_path(path: str) -> bool:
    """Return whether a path is valid."""
    return _steps(path) is not None


def find_text(path: str, value: Any) -> str | None:
    """Return the value at a path as a string, None if there is none. An empty path leads nowhere."""
    return text_of(find(path, value)) if path else None


def text_of(value: Any) -> str | None:
    """Return a value as a string: numbers and booleans as in JSON, mappings and lists as compact JSON."""
    match value:
        case None:
            return None
        case str():
            # A lone half of a surrogate pair is legal in JSON and cannot be written to any file.
            return value.encode("utf-8", "replace").decode("utf-8")
        case float() if value.is_integer() and abs(value) < 1e21:
            return str(int(value))
        case _:
            text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
            return text.encode("utf-8", "replace").decode("utf-8")


@lru_cache(maxsize=1024)
def _steps(path: str) -> tuple[_Step, ...] | str | None:
    """Return the parts of a path, the word of a quoted one, or None for an invalid path."""
    if len(path) >= 2 and path.startswith("'") and path.endswith("'"):
        return path[1:-1]
    if not path.startswith("$."):
        return None
    steps: list[_Step] = []
    for part in path[2:].split("."):
        found = _PART.fullmatch(part)
        if found is None or len(found[2] or "") > 9:
            return None
        if part:
            steps.append((found[1], found[2]))
        if found[2] == _WILDCARD:
            break
    return tuple(steps)


def _property(value: Any, name: str) -> Any:
    if isinstance(value, Mapping):
        return cast("Mapping[str, Any]", value).get(name)
    if isinstance(value, list):
        items = cast("list[Any]", value)
        if name == "length":
            return len(items)
        return _item(items, int(name)) if name.isascii() and name.isdigit() and len(name) < 10 else None
    return None


def _item(value: Any, index: int) -> Any:
    if not isinstance(value, list):
        return None
    items = cast("list[Any]", value)
    return items[index] if index < len(items) else None
