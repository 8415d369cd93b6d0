"""Repairs files on disk by the safe fixes of the editor: for ``check --fix``."""

from __future__ import annotations

import difflib
import os
import secrets
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from waza_engine import files
from waza_engine.files import FileError
from waza_engine.frozen import frozen
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.check import diagnose_with_plug_ins, each_file, open_document, workspace_of
from waza_language_server.features.actions.code_actions import fixed
from waza_language_server.project.disk import MAX_BYTES
from waza_language_server.project.suite_files import read_suites

_MARK = "\ufeff"


@frozen()
class Fixed:
    """The result for a file: how many problems were repaired, or why it was not changed.

    ``untried`` is how many fixes were not tried, ``diff`` the change as a unified diff.
    """

    path: Path
    repaired: int
    diff: str = ""
    why_not: str = ""
    untried: int = 0


def fix_paths(paths: Sequence[Path], *, write: bool = True) -> Iterator[Fixed]:
    """Apply the safe fixes to every suite file among and below the paths; yield the files that have some.

    With ``write`` false no file is changed.

    A file that cannot be read as text is skipped, and so is one that changes meanwhile.
    """
    workspace = workspace_of(paths)
    read_suites(workspace.project)
    for file in [file for file, _ in each_file(paths)]:
        document = open_document(workspace.project, file)
        if document is None:
            continue
        _, workspace = diagnose_with_plug_ins(document, workspace)
        around = workspace.with_document(document)
        found = fixed(document, around, diagnose(document, around))
        if found.count or found.untried:
            old, new = document.text, found.document.text
            why = _replace(file, old, new) if found.count and write else ""
            yield Fixed(file, 0 if why else found.count, _diff(file, old, new), why, found.untried)


def _diff(file: Path, old: str, new: str) -> str:
    before, after = ([f"{line}\n" for line in text.splitlines()] for text in (old, new))
    return "".join(difflib.unified_diff(before, after, str(file), str(file)))


def _replace(path: Path, old: str, new: str) -> str:
    """Replace the text of a file in one step; return why that cannot be, "" when it is done."""
    target = path.resolve()
    temporary = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        content = files.read_bytes(target, MAX_BYTES)
        mark = _MARK if content.startswith(_MARK.encode()) and not old.startswith(_MARK) else ""
        if content != f"{mark}{old}".encode():
            return "it has changed meanwhile"
        if not os.access(target, os.W_OK):
            return "it is read-only"
        files.write_bytes(temporary, f"{mark}{new}".encode())
        temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        temporary.replace(target)
    except FileError as error:
        return error.why
    except OSError as error:
        return error.strerror or "it cannot be written"
    finally:
        temporary.unlink(missing_ok=True)
    return ""
