"""What tests install once per user: where it lies, and that one process at a time fills it."""

import os
from pathlib import Path

from filelock import FileLock


def user_cache() -> Path:
    """Return the folder of this project in the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "waza-language-server"


def one_at_a_time(what: str) -> FileLock:
    """Return the lock to hold while something is installed; the system frees it when its process dies."""
    folder = user_cache()
    folder.mkdir(parents=True, exist_ok=True)
    return FileLock(folder / f"{what}.lock")
