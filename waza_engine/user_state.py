"""The engine's files for its user outside of every repository, and the list of its workspaces.

A record may come with a repository, so the workspace that it names is trusted only when it is on this list.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from waza_engine.files import FileError, read_text, remove_file, write_atomically

_LONGEST_BYTES = 1000


def state_folder() -> Path:
    """Return the folder of the user's state: ``$XDG_STATE_HOME`` or its usual place."""
    home = os.environ.get("XDG_STATE_HOME") or (os.environ.get("LOCALAPPDATA") if os.name == "nt" else "")
    return Path(home or os.path.expanduser("~/.local/state")) / "waza-engine"  # noqa: PTH111 - never raises


def remember_workspace(place: Path) -> None:
    """Record that the engine has created a folder. Raises ``OSError``."""
    write_atomically(_note_of(place), [_identity(place).encode()])


def known_workspace(written: str) -> Path | None:
    """Return the workspace that a record names, None unless the engine has made that very folder."""
    place = Path(written)
    try:
        known = place.is_absolute() and read_text(_note_of(place), _LONGEST_BYTES) == _identity(written)
    except (FileError, OSError, ValueError):
        return None
    return place if known else None


def forget_workspace(place: Path) -> None:
    """Remove the record of a folder that is gone. Raises ``OSError``."""
    remove_file(_note_of(place))


def _note_of(place: Path) -> Path:
    return state_folder() / "workspaces" / hashlib.sha256(os.fsencode(place)).hexdigest()


def _identity(place: str | Path) -> str:
    """Return a value that identifies a folder among all that have or will have its name."""
    status = os.lstat(place)
    return f"{status.st_dev} {status.st_ino}"
