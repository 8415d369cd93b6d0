"""Graders by what is written of them: an entry that says the same keeps its grader."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from waza_engine.graders.base import GraderError
from waza_engine.graders.registry import AnyGrader, create

if TYPE_CHECKING:
    from waza_engine.spec.grader_entry import GraderEntry


@dataclass(slots=True)
class _Kept:
    grader: AnyGrader | str
    round: int


class GraderCache:
    """Graders that were built, and what is wrong with those that cannot be. Thread-safe.

    ``builds`` counts how often one was built.
    """

    def __init__(self) -> None:
        self.builds = 0
        self._lock = threading.Lock()
        self._by_text: dict[Hashable, _Kept] = {}
        # An entry that is asked for again, as one of the suite is for each task, is not looked at again.
        self._by_entry: dict[int, tuple[GraderEntry, _Kept]] = {}
        self._round = 0

    def create(self, entry: GraderEntry) -> AnyGrader:
        """Return the grader of an entry, as ``registry.create`` does. Raises ``GraderError``."""
        known = self._by_entry.get(id(entry))
        kept = self._kept(entry) if known is None else known[1]
        kept.round = self._round
        if isinstance(kept.grader, str):
            raise GraderError(kept.grader)
        return kept.grader

    def forget_unused(self) -> None:
        """Forget what was not asked for since this was called last."""
        with self._lock:
            self._by_text = {text: kept for text, kept in self._by_text.items() if kept.round == self._round}
            self._by_entry = {
                place: pair for place, pair in self._by_entry.items() if pair[1].round == self._round
            }
            self._round += 1

    def _kept(self, entry: GraderEntry) -> _Kept:
        text = _written(dict(entry))
        kept = self._by_text.get(text)
        if kept is None:
            self.builds += 1
            try:
                kept = _Kept(create(entry), self._round)
            except GraderError as error:
                kept = _Kept(str(error), self._round)
        with self._lock:
            self._by_text[text] = kept
            self._by_entry[id(entry)] = entry, kept
        return kept


def _written(value: object) -> Hashable:
    """Return what tells values of a file apart: ``1``, ``1.0``, ``01`` and ``true`` are four."""
    if isinstance(value, Mapping):
        block = cast("Mapping[str, Any]", value)
        return "{", tuple((key, _written(item)) for key, item in block.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[", tuple(_written(item) for item in cast("Sequence[Any]", value))
    return type(value), str(value)
