"""The command as a person sees it."""

import os
import subprocess
import sys


def shown_on_terminal(*arguments: object, **variables: str) -> bytes:
    """Run a command that ends with 0 on a pseudo terminal and return what it writes; POSIX only."""
    import pty

    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"}
    environment.pop("NO_COLOR", None)
    command = [sys.executable, "-m", "waza_engine", *map(str, arguments)]
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, env={**environment, **variables}) as process:
        os.close(theirs)
        shown = b"".join(iter(lambda: _read(ours), b""))
        os.close(ours)
        assert process.wait(60) == 0
    return shown


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:
        # The other side is closed: Linux calls that an error.
        return b""
