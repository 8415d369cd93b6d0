"""Which suites lie below a directory: what ``list`` and an editor show."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

EVAL_NAMES = ("eval.yaml", "eval.yml")
_SKIPPED_FOLDERS = frozenset({"node_modules", "vendor", "__pycache__"})


def eval_files(root: Path) -> list[Path]:
    """Return every eval file below a directory, sorted; hidden and foreign folders are left out."""
    return sorted(_eval_files(root))


def _eval_files(root: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in _SKIPPED_FOLDERS]
        yield from (Path(folder) / name for name in files if name in EVAL_NAMES)
