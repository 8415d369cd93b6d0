"""The programs that may be started by name: what lies in the folders of ``PATH``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from waza_language_server.project.disk import Disk

USUAL = ("python3", "python", "bash", "sh", "node", "uv", "npx", "pwsh")
"""The programs that graders and hooks use most, in the order in which they are offered."""
MOST = 200


def programs_on_path(disk: Disk, start: str) -> tuple[str, ...]:
    """Return the programs whose names begin with ``start``, at most 200; the usual ones when it is empty."""
    return tuple(islice(dict.fromkeys(_found(disk, start)), MOST))


def _found(disk: Disk, start: str) -> Iterator[str]:
    endings = tuple(os.environ.get("PATHEXT", ".exe").lower().split(";")) if os.name == "nt" else ()
    names: dict[str, Path] = {}
    for folder in map(Path, os.get_exec_path()):
        if not folder.is_absolute():
            continue
        for name, is_folder in disk.names(folder).value:
            found = folder / name if not is_folder and name.startswith(start) else None
            if found is not None and (not endings or found.suffix.lower() in endings):
                names.setdefault(found.stem if endings else name, found)
    wanted = sorted(names) if start else [name for name in USUAL if name in names]
    yield from (name for name in wanted if os.access(names[name], os.X_OK))
