"""The command ``waza-engine``: run suites, write the JSON Schemas, serve an editor.

Architecture invariant: starting it imports neither the models nor the graders; each command imports what it
needs.
"""

from __future__ import annotations

import errno
import os
import sys

from waza_engine.mcp import MOCK_COMMAND

_WRITE_ERRORS = {errno.EPIPE, errno.ENOSPC, errno.EFBIG, errno.EIO, errno.EBADF, errno.EINVAL}


def main() -> None:
    """Carry out the command line; leaves with the exit code of the command."""
    _open_missing_streams()
    try:
        try:
            _carry_out(sys.argv[1:])
        finally:
            sys.stdout.flush()
    except OSError as error:
        if error.filename is not None or error.errno not in _WRITE_ERRORS:
            raise
        from waza_engine.commands.output import complain_of_output, drop_output

        drop_output()
        complain_of_output(error)
        sys.exit(2)


def _carry_out(arguments: list[str]) -> None:
    if arguments == ["serve"]:
        from waza_engine.serve import serve

        serve()
    elif arguments[:1] == [MOCK_COMMAND]:
        from waza_engine.mcp.mock_server import serve_mock

        serve_mock(arguments[1:])
    elif arguments == ["--version"]:
        from waza_engine import __version__

        sys.stdout.write(f"waza-engine {__version__}\n")
    else:
        from waza_engine.commands.application import application

        application(prog_name="waza-engine")


def _open_missing_streams() -> None:
    """Open empty streams for a process that was started without them: no file may take their place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 - until the end
