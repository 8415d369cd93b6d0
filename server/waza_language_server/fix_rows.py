"""Applies the safe fixes to files of JSON Lines that are too large for an editor, one part after the other.

Only the changed lines are in memory. A fix never adds or removes a line, so the other lines are copied as
they are.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from waza_engine.boundary import Boundary
from waza_engine.files import FileError, opened_to_read
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.check_rows import checked_parts
from waza_language_server.features.actions.code_actions import fixed
from waza_language_server.fixed_file import CHANGED, MARK, write_fixed
from waza_language_server.project.document import DocumentKind
from waza_language_server.project.workspace import Workspace


@dataclass(slots=True)
class FixedRows:
    """The changed lines of a file by their indexes, each before and after; ``count`` problems are gone.

    ``untried`` is how many fixes were not tried.
    """

    count: int = 0
    untried: int = 0
    lines: dict[int, tuple[str, str]] = field(default_factory=dict[int, tuple[str, str]])

    def diff(self, name: str) -> str:
        """Return the changes as a unified diff."""
        hunks = (
            f"@@ -{index + 1} +{index + 1} @@\n-{old}\n+{new}\n" for index, (old, new) in self.lines.items()
        )
        return "".join((f"--- {name}\n+++ {name}\n", *hunks))


def fixed_rows(path: Path, kind: DocumentKind, workspace: Workspace) -> FixedRows:
    """Return the safe fixes of a file. Raises ``FileError``."""
    found = FixedRows()
    for document, before, _ in checked_parts(path, kind, workspace):
        around = workspace.with_document(document)
        part = fixed(document, around, diagnose(document, around))
        found.count += part.count
        found.untried += part.untried
        pairs = zip(document.text.split("\n"), part.document.text.split("\n"), strict=True)
        for index, (old, new) in enumerate(pairs, before):
            if old != new:
                found.lines[index] = old.removesuffix("\r"), new.removesuffix("\r")
    return found


def write_rows(path: Path, lines: Mapping[int, tuple[str, str]], workspace: Workspace) -> str:
    """Write the changed lines of a file in one step; return why that cannot be, "" when it is done."""
    within = workspace.project.disk.boundaries.around(path.parent)
    return write_fixed(path, lambda target: _changed(target, lines, within), within)


def _changed(path: Path, lines: Mapping[int, tuple[str, str]], within: Boundary) -> Iterator[bytes]:
    left = len(lines)
    with contextlib.closing(opened_to_read(path, within=within)) as file:
        for index, line in enumerate(file):
            if index not in lines:
                yield line
                continue
            old, new = lines[index]
            mark = MARK if not index and line.startswith(MARK.encode()) else ""
            content = line.rstrip(b"\r\n")
            if content != f"{mark}{old}".encode():
                raise FileError("unreadable", CHANGED)
            left -= 1
            yield f"{mark}{new}".encode() + line[len(content) :]
    if left:
        raise FileError("unreadable", CHANGED)
