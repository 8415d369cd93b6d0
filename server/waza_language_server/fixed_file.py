"""Writes a file with its fixes, in one step and with the permissions that it has."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path

from waza_engine.boundary import Boundary
from waza_engine.files import FileError, write_atomically

MARK = "\ufeff"
"""The byte order mark that a file may begin with."""
CHANGED = "it has changed meanwhile"


def write_fixed(
    path: Path, content_of: Callable[[Path], Iterable[bytes]], within: Boundary | None = None
) -> str:
    """Replace the content of a file; return why that cannot be, "" when it is done.

    ``content_of`` gets the file that the path leads to, and may raise ``FileError``.
    """
    target = path.resolve()
    try:
        content = content_of(target)
        if not os.access(target, os.W_OK):
            return "it is read-only"
        mode = stat.S_IMODE(target.stat().st_mode)
        write_atomically(target, content, within=within)
        target.chmod(mode)
    except FileError as error:
        return error.why
    except OSError as error:
        return error.strerror or "it cannot be written"
    return ""
