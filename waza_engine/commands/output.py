"""Standard output whose reader may be gone (``| head -1``), or whose disk may be full."""

from __future__ import annotations

import codecs
import contextlib
import errno
import io
import os
import sys
from collections.abc import Callable
from typing import IO, cast

_STANDARD_OUTPUT = 1
_PLAIN = "waza-plain-signs"
_PLAIN_SIGNS = {"✓": "+", "✗": "x", "⚠": "!", "⧖": "~", "–": "-", "·": "-", "…": "...", "→": "->", "│": "|"}


class StandardOutput:
    """A text stream. After a write that fails, nothing more is written and ``on_failure`` is called."""

    def __init__(self, on_failure: Callable[[], None]) -> None:
        self.failure: OSError | None = None
        # A progress bar puts itself in the place of ``sys.stdout`` and writes to this object.
        self._stream = sys.stdout
        self._on_failure = on_failure

    @property
    def stream(self) -> IO[str]:
        """Itself, where a file is asked for."""
        return cast("IO[str]", self)

    @property
    def encoding(self) -> str:
        """The encoding of standard output."""
        return self._stream.encoding

    def isatty(self) -> bool:
        """Whether a person looks at it."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """Return the descriptor of standard output."""
        return self._stream.fileno()

    def write(self, text: str) -> int:
        """Write the text, if that is possible still."""
        if self.failure is None:
            self._attempt(lambda: self._stream.write(text))
        return len(text)

    def flush(self) -> None:
        """Hand over what was written."""
        if self.failure is None:
            self._attempt(self._stream.flush)

    def complain(self) -> None:
        """Say on standard error why the output is not complete; a reader that left knows."""
        if self.failure is not None:
            complain_of_output(self.failure)

    def _attempt(self, write: Callable[[], object]) -> None:
        try:
            write()
        except OSError as error:
            self.failure = error
            drop_output()
            self._on_failure()


def tolerate_narrow_encodings(*, json_wanted: bool = False) -> None:
    """Let a terminal that has no ✓ show a plain sign instead of ending the command; JSON is UTF-8."""
    codecs.register_error(_PLAIN, _plain_signs)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            utf8 = json_wanted and stream is sys.stdout
            stream.reconfigure(encoding="utf-8" if utf8 else None, errors="replace" if utf8 else _PLAIN)


def complain_of_output(error: OSError) -> None:
    """Say on standard error that standard output cannot be written, unless its reader has left."""
    if error.errno not in (errno.EPIPE, errno.EINVAL):
        with contextlib.suppress(OSError):
            sys.stderr.write(f"Standard output cannot be written: {error.strerror or error}.\n")


def drop_output() -> None:
    """Send what is still to be written nowhere: the interpreter writes it when it ends."""
    with contextlib.suppress(OSError, ValueError):
        descriptor = os.open(os.devnull, os.O_WRONLY)
        os.dup2(descriptor, _STANDARD_OUTPUT)
        os.close(descriptor)


def _plain_signs(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    unknown = error.object[error.start : error.end]
    return "".join(_PLAIN_SIGNS.get(character, "?") for character in unknown), error.end
