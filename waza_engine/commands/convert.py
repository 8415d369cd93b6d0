"""``waza-engine convert``: write a suite in the format of another tool, and list what is lost."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from waza_engine.commands.printer import Part, Printer
from waza_engine.convert.conversion import ConversionError
from waza_engine.convert.convert import changes_since, convert, write_conversion
from waza_engine.counting import counted
from waza_engine.scaffold.file_changes import ScaffoldError
from waza_engine.terminal import complain, say_json
from waza_engine.vocabulary import Target

CONVERTED, LOST, NOT_CONVERTED = 0, 1, 2
_MARKS: dict[str, Part] = {
    "left out": ("✗ left out", "red"),
    "differs": ("~ differs", "yellow"),
    "upstream": ("· upstream", "dim"),
}


def convert_command(
    source: Path,
    to: Target | None,
    directory: Path,
    *,
    strict: bool,
    force: bool,
    as_json: bool,
    grader: Path | None = None,
    adapter: Path | None = None,
) -> int:
    """Convert a suite, print the losses, and return the exit code.

    ``strict`` writes nothing on a loss; a note of the kind ``upstream`` is no loss.
    """
    try:
        conversion = convert(source, to, directory, grader=grader, adapter=adapter)
        refused = strict and any(loss.kind != "upstream" for loss in conversion.losses)
        paths = [] if refused else write_conversion(conversion, force=force)
    except (ConversionError, ScaffoldError) as error:
        complain(str(error))
        return NOT_CONVERTED
    if as_json:
        losses = [loss.document() for loss in conversion.losses]
        say_json({"files": [str(path) for path in paths], "losses": losses})
        return LOST if refused else CONVERTED
    printer = Printer()
    for loss in conversion.losses:
        printer.line(_MARKS[loss.kind], f"  {loss.place}: {loss.why}")
    kinds = Counter(loss.kind for loss in conversion.losses)
    losses = f"{counted(kinds['left out'], 'part')} left out, {kinds['differs']} differ"
    if refused:
        complain(f"Nothing was written, for --strict allows no loss: {losses}.")
        return LOST
    printer.line(f"{counted(len(paths), 'file')} written to {directory}; {losses}")
    return CONVERTED


def check_command(source: Path, directory: Path, *, as_json: bool) -> int:
    """Say whether a copy and its source are as they were at the conversion, and return the exit code."""
    try:
        changes = changes_since(source, directory)
    except ConversionError as error:
        complain(str(error))
        return NOT_CONVERTED
    if as_json:
        say_json({"changes": changes})
    elif changes:
        for change in changes:
            Printer().line(change)
        complain(f"{directory} is no longer what its source converts to; convert again with --force.")
    else:
        Printer().line(f"{directory} and its source are as they were at the conversion.")
    return LOST if changes else CONVERTED
