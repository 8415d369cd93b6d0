"""A mistake that may be behind several faults of a text, with the single edit that repairs it for trial."""

from __future__ import annotations

from collections.abc import Sequence

from waza_engine.frozen import frozen
from waza_language_server.analysis.problem import Problem
from waza_language_server.analysis.text_rules.joined_lines import JoinedLine
from waza_language_server.syntax.tried_edits import apply
from waza_language_server.text.edit import Edit
from waza_language_server.text.span import Span


@frozen()
class Slip:
    """A mistake that may be behind several faults, and the single edit that repairs it."""

    problem: Problem
    edit: Edit
    moves: bool = False
    """True if it moves a line: accepted only if everything parses then, and the key is known there."""
    moved_to: int | None = None
    """Where what it moves begins after the edit; None: behind the text of the edit."""
    known_at: int | None = None
    """Where a key stands after the edit that must be known there; then all must be readable, too."""
    also_known: tuple[int, ...] = ()
    """Where other keys stand after the edit that must be known there as well."""
    cures: Span | None = None
    """A part of the text in which it must cure all faults to be believed."""
    joined: JoinedLine | None = None
    """A line that it divides: believed only when the second part is known where it is put."""


def as_one(text: str, edits: Sequence[Edit]) -> Edit:
    """Return one edit that does the same as several, which are in order."""
    first, last = edits[0].span.start, edits[-1].span.end
    longer = sum(len(edit.text) - len(edit.span) for edit in edits)
    return Edit(Span(first, last), apply(text, edits)[first : last + longer])


def column_of_line(text: str, line: Span) -> int:
    """Return the column where a line begins; a tab counts as two, as most editors would have it."""
    written = text[line.start : line.end]
    return len(written[: len(written) - len(written.lstrip(" \t"))].replace("\t", "  "))
