"""The command ``waza-engine``: run suites, write the JSON Schemas, serve an editor.

Architecture invariant: starting it imports neither the models nor the graders; each command imports what it
needs.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Carry out the command line; leaves with the exit code of the command."""
    arguments = sys.argv[1:]
    if arguments == ["serve"]:
        from waza_engine.serve import serve

        serve()
    elif arguments == ["--version"]:
        from waza_engine import __version__

        sys.stdout.write(f"waza-engine {__version__}\n")
    else:
        from waza_engine.commands.application import application

        application(prog_name="waza-engine")
