"""Values as JSON can hold them, and lenient readers: missing values and wrong types are empty."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

RecordT = TypeVar("RecordT", bound="DataclassInstance")
Json: TypeAlias = dict[str, Any]
Block: TypeAlias = Mapping[str, Any]

_DEEPEST = 200
_STEPS = (str, int)


def object_in(content: bytes | str) -> Block | None:
    """Return the object that a JSON document is, None when it is another value or no JSON."""
    try:
        document: object = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return cast("Block", document) if isinstance(document, Mapping) else None


def plain(value: Any, depth: int = 0) -> Any:
    """Return the value as JSON can hold it: non-finite numbers become null, other objects strings.

    Values deeper than 200 levels become "…": no reader gets that far, and they must not cost the results.
    """
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else None
        case Mapping() | list() | tuple() | set() | frozenset() if depth > _DEEPEST:
            return "…"
        case Mapping():
            items = cast("Mapping[Any, Any]", value).items()
            return {str(key): plain(item, depth + 1) for key, item in items}
        case list() | tuple() | set() | frozenset():
            return [plain(item, depth + 1) for item in cast("Iterable[Any]", value)]
        case _:
            return str(value)


def nonempty(**values: Any) -> Json:
    """Return the values that are neither empty nor zero: upstream leaves those keys out."""
    return {key: value for key, value in values.items() if value}


def value_at(value: object, path: Sequence[str | int]) -> Any:
    """Return the value at a path of keys and indexes, None if there is none."""
    found: Any = value
    for step in path:
        try:
            found = found[step]
        except (KeyError, IndexError, TypeError):
            return None
    return found


def block_of(block: Block, key: str) -> Block:
    """Return the object at a key."""
    found = block.get(key)
    return cast("Block", found) if isinstance(found, Mapping) else {}


def blocks_by_name(block: Block, key: str) -> dict[str, Block]:
    """Return the objects in the object at a key; other values are left out."""
    return {name: item for name, item in block_of(block, key).items() if isinstance(item, Mapping)}


def blocks_of(value: object) -> list[Block]:
    """Return the objects in a list; other values are left out."""
    return [item for item in items_of(value) if isinstance(item, Mapping)]


def items_of(value: object) -> list[Any]:
    """Return the items of a list, of any type."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def path_of(value: object) -> tuple[str | int, ...]:
    """Return the keys and indexes of a path."""
    return tuple(step for step in items_of(value) if step.__class__ in _STEPS)


def text_of(value: object) -> str:
    """Return a string, "" for any other value."""
    return value if isinstance(value, str) else ""


def value_text(value: Any) -> str | None:
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


def texts_of(value: object) -> tuple[str, ...]:
    """Return the strings in a list; other values are left out."""
    return tuple(item for item in items_of(value) if isinstance(item, str))


def strings_in(value: object) -> Iterator[str]:
    """Yield a string, or all strings in a mapping or a list, at any depth; keys are left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from strings_in(list(cast("Mapping[object, object]", value).values()))
    elif isinstance(value, list | tuple):
        for item in cast("Iterable[object]", value):
            yield from strings_in(item)


def number(value: object) -> float:
    """Return a number, 0.0 for any other value (also for a non-finite one)."""
    if isinstance(value, float):
        return value if math.isfinite(value) else 0.0
    if not isinstance(value, int) or isinstance(value, bool):
        return 0.0
    try:
        return float(value)
    except OverflowError:
        return 0.0


def number_or_none(value: object) -> float | None:
    """Return a number, None for any other value."""
    return number(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def whole(value: object) -> int:
    """Return the whole part of a number."""
    return 0 if value is None else int(number(value))


def duration_of(value: object) -> int:
    """Return a duration in milliseconds, at least 0: the clock may have been set back meanwhile."""
    return max(0, whole(value))


def record_of(kind: type[RecordT], block: Block) -> RecordT:
    """Return a dataclass of plain values and lists of strings, each read by the name of its field.

    Fields of other types keep their defaults.
    """
    return kind(**{name: read(block.get(name)) for name, read in _readers(kind)})


@functools.cache
def _readers(kind: type[DataclassInstance]) -> list[tuple[str, Callable[[object], object]]]:
    return [(part.name, _READERS[str(part.type)]) for part in fields(kind) if part.type in _READERS]


_READERS: Mapping[str, Callable[[object], object]] = {
    "int": whole,
    "float": number,
    "float | None": number_or_none,
    "str": text_of,
    "bool": lambda value: value is True,
    "Sequence[str]": texts_of,
    "tuple[str, ...]": texts_of,
}


def moment(text: object) -> datetime:
    """Return a time stamp with its zone (UTC when it has none).

    The earliest possible when it cannot be read (``moments.is_known``).
    """
    try:
        found = datetime.fromisoformat(str(text))
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
