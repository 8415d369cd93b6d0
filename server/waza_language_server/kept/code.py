"""Which code judges: what its problems say is kept for this very code, not for its version number.

Architecture invariant: light, and asked before the analysis is loaded.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import waza_engine
import waza_language_server
from waza_engine.frozen import frozen
from waza_language_server.kept.digests import digest

_PACKAGES = (waza_engine, waza_language_server)
_LIBRARIES = frozenset({"site-packages", "dist-packages"})


@frozen()
class Code:
    """What is another when a file of this program, a library or Python itself is another.

    ``changed_ns`` is when the last of them changed, in nanoseconds.
    """

    digest: str
    changed_ns: int


def code() -> Code:
    """Return the code that is on the disk now."""
    changed = 0
    seen: list[object] = [sys.version, sys.platform]
    for package in _PACKAGES:
        folders = [str(Path(package.__file__ or "").parent)]
        while folders:
            folder = folders.pop()
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir():
                        folders += [entry.path] if entry.name != "__pycache__" else []
                        continue
                    status = entry.stat()
                    changed = max(changed, status.st_mtime_ns, status.st_ctime_ns)
                    seen.append((entry.path, status.st_mtime_ns, status.st_ctime_ns, status.st_size))
    for folder in sys.path:
        # A library that is installed, taken away or replaced changes the folder that it is installed in.
        if os.path.basename(folder) in _LIBRARIES and os.path.isdir(folder):  # noqa: PTH112, PTH119
            status = os.stat(folder)  # noqa: PTH116
            changed = max(changed, status.st_mtime_ns, status.st_ctime_ns)
            seen.append((folder, status.st_mtime_ns, status.st_ctime_ns))
    return Code(digest(repr(sorted(map(repr, seen))).encode()), changed)
