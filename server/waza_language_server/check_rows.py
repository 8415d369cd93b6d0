"""Checks files of JSON Lines that are too large for an editor, one part after the other."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from waza_engine.files import FileError, opened_to_read, text_of
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.json_reader import parse_json
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.analysis.file_rules.prompt_lines import (
    ids_of,
    is_repeated_id,
    is_short,
    lacks_trials,
    taken_id,
)
from waza_language_server.analysis.problem import Problem
from waza_language_server.project.document import Document, DocumentKind
from waza_language_server.project.uris import uri_of
from waza_language_server.project.workspace import Workspace
from waza_language_server.syntax.characters import MAX_CHARACTERS

_PART_BYTES = 1_000_000
_HALF_CHARACTER = "\\ud"
"""The beginning of an escape that may be half of a character: the tree shows whether it is."""
Part = tuple[Document, int, Sequence[Problem]]
"""A part of a file, how many lines are before it, and its problems."""


@dataclass(slots=True)
class _Reading:
    path: Path
    kind: DocumentKind
    workspace: Workspace
    lines_of: dict[str, int] = field(default_factory=dict[str, int])
    """The first line of each id, counted from 1."""


def checked_parts(path: Path, kind: DocumentKind, workspace: Workspace) -> Iterator[Part]:
    """Yield the parts of a file that have problems. Raises ``FileError``.

    A tree is built only of lines that may have a problem; the others are blank in their part.
    """
    reading = _Reading(path, kind, workspace)
    for before, lines in _parts(path, workspace):
        kept = [_without_faultless(reading, line, before + number) for number, line in enumerate(lines, 1)]
        document = Document(uri_of(path), 0, "\n".join(kept), kind)
        if document.tree.root is None and not document.tree.errors:
            continue
        problems = [each for each in diagnose(document, workspace) if not is_repeated_id(each)]
        for name, node in ids_of(document.tree) if kind == "prompts" else ():
            line = before + document.lines.line_of(node.span.start) + 1
            first = reading.lines_of.setdefault(name, line)
            problems += [taken_id(name, node, first)] if first < line else []
        yield document, before, sorted(problems, key=lambda problem: problem.span)


def _without_faultless(reading: _Reading, line: str, number: int) -> str:
    """Return a line, "" in place of one that surely has no problem."""
    if not line.strip() or _HALF_CHARACTER in line.lower():
        return line
    try:
        value = parse_json(line, reading.path).value
    except SuiteFileError:
        return line
    root = reading.workspace.catalog.line_root(reading.kind)
    if not isinstance(value, dict) or not root.validator.is_valid(value):
        return line
    if reading.kind != "prompts":
        return line if reading.kind == "trials" and lacks_trials(value) else ""
    is_first = reading.lines_of.setdefault(cast("str", value["id"]), number) == number
    return "" if is_first and not is_short(value.get("timeout")) else line


def _parts(path: Path, workspace: Workspace) -> Iterator[tuple[int, list[str]]]:
    """Yield some lines of a file at a time, and how many are before them."""
    within = workspace.project.disk.boundaries.around(path.parent)
    with contextlib.closing(opened_to_read(path, within=within)) as file:
        before = 0
        while lines := file.readlines(_PART_BYTES):
            if any(len(line) > MAX_CHARACTERS for line in lines):
                why = f"a line after line {before:,} has more than {MAX_CHARACTERS:,} bytes"
                raise FileError("too large", why)
            text = text_of(b"".join(lines)).removesuffix("\n")
            yield before, (text if before else text.removeprefix("\ufeff")).split("\n")
            before += len(lines)
