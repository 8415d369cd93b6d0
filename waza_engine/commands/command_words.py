"""A command to copy into a shell."""

from __future__ import annotations

import os
import shlex
import subprocess


def command_line(*arguments: object) -> str:
    """Return a command of the engine as a shell of this system reads it, with paths quoted where needed."""
    words = ["waza-engine", *map(str, arguments)]
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)
