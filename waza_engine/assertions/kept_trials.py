"""Cache a trial's values for assertions in a worker: an edit of an assertion sends that alone.

Architecture invariant: a worker hands each evaluation the values as it received them. Changes that one makes
to its lists and dicts are not seen by the next.
"""

from __future__ import annotations

import itertools
import json
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MOST_TOGETHER = 64
MOST_TOGETHER_CHARACTERS = 1_000_000
MOST_KEPT_BYTES = 200_000_000
"""About how much of its memory a worker may fill with trials."""
_BYTES_OF_BLOCK = 250
_BYTES_OF_ITEM = 100
_numbers = itertools.count(1)


class TrialNames:
    """The names that assertions may use of one trial; ``make`` returns them for a worker without them.

    It is equal to nothing but itself. Workers cache it for as long as it exists.
    """

    __slots__ = ("__weakref__", "make", "number")

    def __init__(self, make: Callable[[], Mapping[str, Any]]) -> None:
        self.make = make
        self.number = next(_numbers)


@dataclass(frozen=True, slots=True)
class TogetherRequest:
    """A request to a worker as JSON, and how many trials are in it."""

    line: str
    trials: int


@dataclass(frozen=True, slots=True)
class _Kept:
    trial: weakref.ref[TrialNames]
    size: int


class KeptTrials:
    """The trials that one worker keeps. Used by the thread that has the worker."""

    def __init__(self, most_bytes: int = MOST_KEPT_BYTES) -> None:
        self._kept: dict[int, _Kept] = {}
        self._free_bytes = most_bytes

    def requests(self, assertions: Sequence[str], trials: Sequence[TrialNames]) -> Iterator[TogetherRequest]:
        """Yield requests that a worker reads whole before it evaluates anything; each has to be sent.

        Trials that it has not cached are sent, and cached while there is room. None is evicted to make room
        for another: a caller with more trials than fit would evict all of them again and again.
        """
        forgotten, told, asked, characters = self._forgotten(), dict[int, str](), list[str](), 0
        for trial in trials:
            text = "" if trial.number in self._kept else json.dumps(trial.make(), default=str)
            if asked and (len(asked) == MOST_TOGETHER or characters + len(text) > MOST_TOGETHER_CHARACTERS):
                yield _request(assertions, asked, told, forgotten)
                forgotten, told, asked, characters = (), {}, [], 0
            characters += len(text)
            if text and self._keeps(trial, text):
                told[trial.number] = text
                text = ""
            asked.append(text or str(trial.number))
        if asked:
            yield _request(assertions, asked, told, forgotten)

    def _keeps(self, trial: TrialNames, text: str) -> bool:
        size = _size_in_worker(text)
        if size > self._free_bytes:
            return False
        self._free_bytes -= size
        self._kept[trial.number] = _Kept(weakref.ref(trial), size)
        return True

    def _forgotten(self) -> Sequence[int]:
        gone = [number for number, kept in self._kept.items() if kept.trial() is None]
        for number in gone:
            self._free_bytes += self._kept.pop(number).size
        return gone


def _request(
    assertions: Sequence[str], asked: Sequence[str], told: Mapping[int, str], forgotten: Sequence[int]
) -> TogetherRequest:
    keep = ", ".join(f'"{number}": {text}' for number, text in told.items())
    line = (
        f'{{"forget": {json.dumps(list(forgotten))}, "keep": {{{keep}}}, "contexts": [{", ".join(asked)}],'
        f' "assertions": {json.dumps(list(assertions))}, "replay": []}}'
    )
    return TogetherRequest(line, len(asked))


def _size_in_worker(text: str) -> int:
    """Return about how many bytes JSON takes once it is read: lists and dicts take more than they look."""
    blocks = text.count("{") + text.count("[")
    return len(text) + blocks * _BYTES_OF_BLOCK + text.count(",") * _BYTES_OF_ITEM
