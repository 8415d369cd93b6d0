"""Lines with colours for people, on a terminal, in a pipe or in a file.

Architecture invariant: text is never read as markup. A part of a line is a string, or a string with its
style, and it is escaped as in ``terminal``: no name can set a colour, add a line or make a link. When the
reader of the output leaves or the disk is full, a run ends in order (``StandardOutput``).
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import IO, Any, TypeAlias, cast

from rich.console import Console
from rich.table import Table
from rich.text import Text

from waza_engine.command_line import complain_of_output, drop_output
from waza_engine.terminal import (
    Notation,
    harmless_document,
    harmless_lines,
    json_text,
    visible,
    visible_lines,
    without_commands,
    write_whole,
)

Part: TypeAlias = "str | tuple[str, str]"
"""A string, or a string with a style of rich such as ``bold`` or ``dim``."""

_WIDE = 200


class Printer:
    """Prints lines to standard output, to standard error, or to another stream."""

    def __init__(self, output: IO[str] | None = None, *, errors: bool = False) -> None:
        self.console = Console(file=output, stderr=errors, highlight=False, soft_wrap=True)
        if not self.console.is_terminal:
            # Nobody looks at it now: a table is as wide as it needs to be.
            self.console.width = _WIDE

    @property
    def is_terminal(self) -> bool:
        """Return whether it is a terminal."""
        return self.console.is_terminal

    def line(self, *parts: Part) -> None:
        """Print one line of these parts."""
        self.console.print(printable_line(*parts))

    def lines(self, text: str, before: str, style: str = "") -> None:
        """Print every line of a string after the prefix ``before``."""
        for line in visible_lines(text).rstrip("\n").split("\n"):
            self.line((f"{before}{line}", style))

    def table(self, table: Table, rows: Iterable[Sequence[Part] | None]) -> None:
        """Print a table with these rows; None is a rule between rows."""
        for row in rows:
            if row is None:
                table.add_section()
            else:
                table.add_row(*(printable_line(cell) for cell in row))
        if self.console.is_terminal:
            self.console.print(table)
            return
        # A long cell wraps to further lines, which may begin with a command to a build server.
        with self.console.capture() as drawn:
            self.console.print(table)
        self.console.file.write(without_commands(drawn.get()))


class BufferedPrinter(Printer):
    """Holds lines back until ``release``: what several runs print at the same time is not interleaved."""

    def __init__(self, printer: Printer) -> None:
        self.console = printer.console
        self._printer = printer
        self._lines: list[tuple[Part, ...]] = []

    def line(self, *parts: Part) -> None:
        """Hold one line of these parts back."""
        self._lines.append(parts)

    def release(self) -> None:
        """Print the lines."""
        for parts in self._lines:
            self._printer.line(*parts)
        self._lines.clear()


def printable_line(*parts: Part) -> Text:
    """Return parts as one line that can be printed."""
    pairs = [(part, "") if isinstance(part, str) else part for part in parts]
    line = Text.assemble(*((visible(text), style) for text, style in pairs))
    harmless = harmless_lines(line.plain)
    # A command to a build server: its text matters more than its colours.
    return line if harmless == line.plain else Text(harmless)


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
                self._attempt(lambda: write_whole(self._stream.buffer, harmless_document(content, notation)))
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
