"""Lines with colours for people, on a terminal, in a pipe or in a file.

Architecture invariant: text is never read as markup. A part of a line is a string, or a string with its
style, and it is escaped as in ``terminal``: no name can set a colour, add a line or make a link.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import IO, TypeAlias

from rich.console import Console
from rich.table import Table
from rich.text import Text

from waza_engine.terminal import harmless_lines, visible, visible_lines, without_commands

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
        self.console.print(shown(*parts))

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
                table.add_row(*(shown(cell) for cell in row))
        if self.console.is_terminal:
            self.console.print(table)
            return
        # A long cell wraps to further lines, which may begin with a command to a build server.
        with self.console.capture() as drawn:
            self.console.print(table)
        self.console.file.write(without_commands(drawn.get()))


class HeldPrinter(Printer):
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


def shown(*parts: Part) -> Text:
    """Return parts as one line that can be printed."""
    pairs = [(part, "") if isinstance(part, str) else part for part in parts]
    line = Text.assemble(*((visible(text), style) for text, style in pairs))
    harmless = harmless_lines(line.plain)
    # A command to a build server: its text matters more than its colours.
    return line if harmless == line.plain else Text(harmless)
