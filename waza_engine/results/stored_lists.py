"""Transcripts of finished tasks on the disk: all those of a long run would not fit into the memory."""

from __future__ import annotations

import json
import os
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, Any, TypeVar, overload

from waza_engine.results.json_values import plain
from waza_engine.results.record import TaskOutcome, TrialOutcome
from waza_engine.terminal import json_text
from waza_engine.vocabulary import ToolCall

LEAST_BYTES = 2048
"""Shorter lists stay in memory: an object that reads one takes up as much."""
_ValueT = TypeVar("_ValueT")
_NewT = TypeVar("_NewT")


class StoredList(Sequence[_ValueT]):
    """A list that is read each time it is used."""

    def __init__(self, read: Callable[[], list[_ValueT]], count: int) -> None:
        self._read = read
        self._count = count

    def __len__(self) -> int:
        """Return how many items it has, without reading them."""
        return self._count

    def __iter__(self) -> Iterator[_ValueT]:
        """Iterate over its items."""
        return iter(self._read())

    @overload
    def __getitem__(self, index: int) -> _ValueT: ...
    @overload
    def __getitem__(self, index: slice) -> list[_ValueT]: ...
    def __getitem__(self, index: int | slice) -> _ValueT | list[_ValueT]:
        """Return an item, or some."""
        return self._read()[index]

    def changed(self, change: Callable[[_ValueT], _NewT]) -> StoredList[_NewT]:
        """Return the list with each of its items changed when it is read."""
        return StoredList(lambda: [change(item) for item in self._read()], self._count)


class Transcripts:
    """The transcripts and tool calls of the finished tasks of a run, in a file without a name.

    The file ends with the last list that is read from it.
    """

    def __init__(self, folder: Path) -> None:
        """``folder`` must be there when the first task is stored."""
        self._folder = folder
        self._file: IO[bytes] | None = None
        self._lock = threading.Lock()

    def stored(self, task: TaskOutcome) -> TaskOutcome:
        """Return a task whose long lists are read from the file; a full disk leaves them in memory."""
        with suppress(OSError):
            return replace(task, trials=tuple(map(self._stored, task.trials)))
        return task

    def _stored(self, trial: TrialOutcome) -> TrialOutcome:
        calls = [
            [call.name, call.arguments, call.id, call.result, call.success] for call in trial.tool_calls or ()
        ]
        if (read := self._written(trial.events)) is not None:
            trial = replace(trial, events=StoredList(read, len(trial.events)))
        if (read_calls := self._written(calls)) is not None:
            stored = StoredList(read_calls, len(calls)).changed(lambda call: ToolCall(*call))
            trial = replace(trial, tool_calls=stored)
        return trial

    def _written(self, values: Sequence[Any]) -> Callable[[], list[Any]] | None:
        """Write a list; return how to read it, None for a short one. Raises ``OSError``."""
        content = json_text(plain(values)).encode() if values else b""
        if len(content) < LEAST_BYTES:
            return None
        with self._lock:
            if self._file is None:
                # Without a buffer, a full disk is noticed now.
                self._file = tempfile.TemporaryFile(dir=self._folder, buffering=0)  # noqa: SIM115
                weakref.finalize(self, self._file.close)
            start, left = self._file.seek(0, os.SEEK_END), memoryview(content)
            while left:
                left = left[self._file.write(left) :]
        return partial(self._read, start, len(content))

    def _read(self, start: int, length: int) -> list[Any]:
        assert self._file is not None
        with self._lock:
            self._file.seek(start)
            return json.loads(self._file.read(length))
