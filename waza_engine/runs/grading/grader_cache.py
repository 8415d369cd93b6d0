"""A cache of graders by their source: an entry with the same content keeps its grader."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from waza_engine.graders.base import GraderError
from waza_engine.graders.registry import AnyGrader, create

if TYPE_CHECKING:
    from waza_engine.spec.grader_entry import GraderEntry


# Grading one task after the other must not build the graders of all of them again.
_CACHED_ROUNDS = 64


@dataclass(slots=True)
class _Entry:
    """A grader or its error, and the round of its last use."""

    grader: AnyGrader | str
    round: int


class GraderCache:
    """Built graders, and the errors of those that cannot be built. Thread-safe.

    ``builds`` counts how often one was built; ``build`` builds it.
    """

    def __init__(self, build: Callable[[GraderEntry], AnyGrader] = create) -> None:
        self.builds = 0
        self._build = build
        self._lock = threading.Lock()
        self._by_text: dict[Hashable, _Entry] = {}
        self._round = 0

    def create(self, entry: GraderEntry) -> AnyGrader:
        """Return the grader of an entry, as ``registry.create`` does. Raises ``GraderError``."""
        cached = self._cached(entry)
        cached.round = self._round
        if isinstance(cached.grader, str):
            raise GraderError(cached.grader)
        return cached.grader

    def forget_unused(self) -> None:
        """Call it after each use of the suite: graders that many uses did not need are dropped."""
        with self._lock:
            oldest = self._round - _CACHED_ROUNDS
            self._by_text = {text: cached for text, cached in self._by_text.items() if cached.round > oldest}
            self._round += 1

    def _cached(self, entry: GraderEntry) -> _Entry:
        text = _written(dict(entry))
        cached = self._by_text.get(text)
        if cached is None:
            self.builds += 1
            try:
                cached = _Entry(self._build(entry), self._round)
            except GraderError as error:
                cached = _Entry(str(error), self._round)
        with self._lock:
            self._by_text[text] = cached
        return cached


def _written(value: object) -> Hashable:
    """Return a key that tells values of a file apart: ``1``, ``1.0``, ``01`` and ``true`` are four."""
    if isinstance(value, Mapping):
        block = cast("Mapping[str, Any]", value)
        return "{", tuple((key, _written(item)) for key, item in block.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[", tuple(_written(item) for item in cast("Sequence[Any]", value))
    return type(value), str(value)
