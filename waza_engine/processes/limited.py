"""Starts a program within limits: a script for ``python -I -S -B limited.py PROGRAM ARGUMENTS…``.

The program, which replaces this process, can write no file and leaves no core dump. It keeps the environment
and the streams of this process, and nothing else.
"""

from __future__ import annotations

import os
import resource
import sys


def main() -> None:
    """Limit this process and replace it by the program."""
    for kind in (resource.RLIMIT_CORE, resource.RLIMIT_FSIZE):
        resource.setrlimit(kind, (0, 0))
    os.execv(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
