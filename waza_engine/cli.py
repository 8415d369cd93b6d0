"""The command ``waza-engine``: run suites, write the JSON Schemas, serve an editor.

Architecture invariant: starting it imports neither the models nor the graders; each command imports what it
needs.
"""

from __future__ import annotations

import waza_engine.early_interruption  # noqa: F401  # pyright: ignore[reportUnusedImport] - before what loads long

# isort: split
import gc
import sys

from waza_engine.command_line import run_application, run_command_line
from waza_engine.mcp import MOCK_COMMAND

_STARTS_PROGRAMS = {"run", "grade", "serve", "mcp", "harness", "worker"}
_HARNESS = "harness"
_OBJECTS_PER_COLLECTION = 50_000
"""A command makes many objects that stay, and few in circles; Python looks at them after every 700."""


def main() -> None:
    """Execute the command line; leaves with the exit code of the command."""
    gc.set_threshold(_OBJECTS_PER_COLLECTION)
    run_command_line(_command)


def harness_main() -> None:
    """Execute the command line of ``waza-harness``, which is ``waza-engine harness``."""
    sys.argv[1:1] = [_HARNESS]
    main()


def _command() -> None:
    arguments = sys.argv[1:]
    if not _STARTS_PROGRAMS.isdisjoint(arguments[:1]):
        from waza_engine.processes.supervisor import supervise

        supervise()
    if arguments == ["serve"]:
        from waza_engine.end_of_input import leave_at_end_of_input

        leave_at_end_of_input()
        from waza_engine.commands.serve import serve

        serve()
    elif arguments[:1] == [MOCK_COMMAND]:
        from waza_engine.mcp.mock_server import serve_mock

        serve_mock(arguments[1:])
    elif arguments == ["--version"]:
        from waza_engine.terminal import say
        from waza_engine.version import __version__

        say(f"waza-engine {__version__}")
    elif arguments[:1] == [_HARNESS]:
        from waza_engine.commands.harness import harness

        del sys.argv[1]
        run_application(harness, f"waza-engine {_HARNESS}", wrong_arguments=1)
    else:
        from waza_engine.commands.application import application

        run_application(application, "waza-engine")
