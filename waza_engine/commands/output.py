"""Standard output of a run: when its reader leaves or the disk is full, the run ends in order."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import IO, Any, cast

from waza_engine.command_line import complain_of_output, drop_output
from waza_engine.terminal import Notation, harmless_document, json_text


class StandardOutput:
    """A text stream. After a write that fails, nothing more is written and ``on_failure`` is called."""

    def __init__(self, on_failure: Callable[[], None]) -> None:
        self.failure: OSError | None = None
        # A progress bar puts itself in the place of ``sys.stdout`` and writes to this object.
        self._stream = sys.stdout
        self._on_failure = on_failure
        # Runs at the same time print their events in threads of their own.
        self._lock = threading.RLock()

    @property
    def stream(self) -> IO[str]:
        """Return itself, where a file is needed."""
        return cast("IO[str]", self)

    @property
    def encoding(self) -> str:
        """The encoding of standard output."""
        return self._stream.encoding

    def isatty(self) -> bool:
        """Return whether it is a terminal."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """Return the descriptor of standard output."""
        return self._stream.fileno()

    def write(self, text: str) -> int:
        """Write text that a ``Printer`` has made harmless, unless writing has failed."""
        if self.failure is None:
            self._attempt(lambda: self._stream.write(text))
        return len(text)

    def say_document(self, content: bytes, notation: Notation = "json") -> None:
        """Write a finished document as ``terminal.say_document`` does, if that is possible still."""
        with self._lock:
            self.flush()
            if self.failure is None:
                self._attempt(lambda: self._stream.buffer.write(harmless_document(content, notation)))
            self.flush()

    def say_json(self, value: Any, indent: int | None = None) -> None:
        """Write a value as JSON in UTF-8, and flush it, unless writing has failed."""
        self.say_document(json_text(value, indent).encode() + b"\n")

    def flush(self) -> None:
        """Flush the output."""
        if self.failure is None:
            self._attempt(self._stream.flush)

    def complain(self) -> None:
        """Report on standard error why the output is incomplete, unless its reader has left."""
        if self.failure is not None:
            complain_of_output(self.failure)

    def _attempt(self, write: Callable[[], object]) -> None:
        try:
            write()
        except OSError as error:
            self.failure = error
            drop_output()
            self._on_failure()
