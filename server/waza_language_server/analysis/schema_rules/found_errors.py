"""The errors that the validator finds in a document, validating long lists in chunks.

The validator returns only when it has found everything: ten thousand wrong tasks take a quarter of a second.
Its errors for an item of a list depend on the item alone, so a long list is validated in chunks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from waza_engine.frozen import frozen
from waza_engine.spec.reading.scalars import Json

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError, Validator

ITEMS_AT_ONCE = 200
"""Items of each top-level list that the validator checks between two pauses."""


@frozen()
class FoundError:
    """An error of the validator. ``moved`` is the number of items of its list before the chunk."""

    error: ValidationError
    moved: int = 0

    @property
    def path(self) -> list[str | int]:
        """Return the keys and positions that lead to the value."""
        path = list(self.error.instance_path)
        if self.moved:
            path[1] = cast("int", path[1]) + self.moved
        return path

    @property
    def schema_path(self) -> list[str | int]:
        """Return the path to the keyword that the value violates."""
        return self.error.schema_path

    @property
    def details(self) -> Any:
        """Return the validator's details of the error, without its location."""
        return self.error.kind

    @property
    def is_of_nothing(self) -> bool:
        """Return whether there is no value."""
        return self.error.instance is None

    @property
    def of_branches(self) -> list[list[FoundError]]:
        """Return the errors of the value for each of several alternatives."""
        contexts = cast("list[list[ValidationError]]", getattr(self.error.kind, "context", []))
        return [[FoundError(each, self.moved) for each in errors] for errors in contexts]


def found_errors(validator: Validator, value: Json) -> Iterator[FoundError | None]:
    """Yield the errors of a document, and None wherever a pause is possible."""
    long = {key: items for key, items in _lists_of(value) if len(items) > ITEMS_AT_ONCE}
    if not long:
        yield from map(FoundError, validator.iter_errors(value))
        return
    first = {**cast("dict[str, Json]", value), **{key: items[:ITEMS_AT_ONCE] for key, items in long.items()}}
    yield from map(FoundError, validator.iter_errors(first))
    for key, items in long.items():
        for start in range(ITEMS_AT_ONCE, len(items), ITEMS_AT_ONCE):
            yield None
            piece = {**first, key: items[start : start + ITEMS_AT_ONCE]}
            for error in validator.iter_errors(piece):
                path = error.instance_path
                if len(path) > 1 and path[0] == key:
                    yield FoundError(error, start)


def _lists_of(value: Json) -> Iterator[tuple[str, list[Json]]]:
    if isinstance(value, dict):
        yield from ((key, each) for key, each in value.items() if isinstance(each, list))
