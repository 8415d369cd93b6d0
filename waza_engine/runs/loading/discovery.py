"""Where suites lie: the one in a directory, and all below it, as ``list`` and an editor show them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from waza_engine.files import is_named
from waza_engine.runs.loading.suite import SuiteError
from waza_engine.spec.file_names import EVAL_NAMES

_SKIPPED_FOLDERS = frozenset({"node_modules", "vendor", "__pycache__"})


def eval_files(root: Path) -> list[Path]:
    """Return every eval file below a directory, sorted; hidden and foreign folders are left out."""
    return sorted(_eval_files(root))


def eval_file_of(path: Path) -> Path:
    """Return the eval file in a directory; a path that is none stays, and loading it says what is wrong.

    Raises ``SuiteError`` for a directory without one.
    """
    if not path.is_dir():
        return path
    found = next((path / name for name in EVAL_NAMES if is_named(path / name)), None)
    if found is None:
        raise SuiteError(f"{path}: there is no eval.yaml in this directory.")
    return found


def _eval_files(root: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in _SKIPPED_FOLDERS]
        yield from (Path(folder) / name for name in files if name in EVAL_NAMES)
