"""Values as JSON can hold them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

Json: TypeAlias = dict[str, Any]


def plain(value: Any) -> Any:
    """Return the value as JSON can hold it: numbers that are not finite become null, other objects text."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else None
        case Mapping():
            items = cast("Mapping[Any, Any]", value).items()
            return {key if isinstance(key, str) else str(key): plain(item) for key, item in items}
        case list() | tuple() | set() | frozenset():
            return [plain(item) for item in cast("Sequence[Any]", value)]
        case _:
            return str(value)


def given(**values: Any) -> Json:
    """Return the values that are neither empty nor zero: upstream leaves those keys out."""
    return {key: value for key, value in values.items() if value}
