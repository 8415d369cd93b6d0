"""A mistake that may cause several faults of a text, with the single edit that repairs it tentatively."""

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
    """A mistake that may cause several faults, and the single edit that repairs it."""

    problem: Problem
    edit: Edit
    moves: bool = False
    """True if it moves a line: accepted only if everything parses then, and the key is known there."""
    moved_to: int | None = None
    """The offset of the moved part after the edit; None: after the text of the edit."""
    known_at: int | None = None
    """The offset, after the edit, of a key that must be known there; then everything must parse, too."""
    also_known: tuple[int, ...] = ()
    """The offsets, after the edit, of other keys that must be known there as well."""
    cures: Span | None = None
    """The part of the text in which it must repair all faults to be accepted."""
    joined: JoinedLine | None = None
    """A line that it splits: accepted only if the second part is known at its new place."""


def as_one(text: str, edits: Sequence[Edit]) -> Edit:
    """Return one edit that does the same as several, which are in order."""
    first, last = edits[0].span.start, edits[-1].span.end
    longer = sum(len(edit.text) - len(edit.span) for edit in edits)
    return Edit(Span(first, last), apply(text, edits)[first : last + longer])


def column_of_line(text: str, line: Span) -> int:
    """Return the column where a line begins; a tab counts as two, as in most editors."""
    written = text[line.start : line.end]
    return len(written[: len(written) - len(written.lstrip(" \t"))].replace("\t", "  "))
