"""The command ``waza-language-server``: the server for editors, ``check`` and ``show`` for terminals.

Architecture invariant: starting the server imports nothing that only the terminal commands need.
"""

from __future__ import annotations

import waza_engine.early_interruption  # noqa: F401  # pyright: ignore[reportUnusedImport] - before what loads long

# isort: split
import gc
import logging
import signal
import sys
from collections.abc import Callable
from typing import NoReturn

from waza_engine.command_line import run_application, run_command_line
from waza_engine.terminal import complain, log_to_standard_error, say

_OBJECTS_BEFORE_COLLECTION = 50_000, 20, 50


def main() -> None:
    """Start the server, or run one of the terminal commands."""
    run_command_line(_command)


def _command() -> None:
    arguments = sys.argv[1:]
    if arguments == ["--version"]:
        _print_version()
    elif "--help" in arguments or (arguments and not arguments[0].startswith("--")):
        from waza_language_server.commands import application

        run_application(application, "waza-language-server")
    else:
        _serve(arguments)


def _serve(arguments: list[str]) -> NoReturn:
    try:
        port = _port(arguments)
    except ValueError as error:
        complain(str(error))
        sys.exit(2)
    load_server()(port)


def load_server() -> Callable[[int | None], NoReturn]:
    """Load what each start loads; return what serves one client, at a port or standard streams, and ends."""
    log_to_standard_error("WARNING")
    # An interruption while the server loads, before it minds signals itself, ends it without a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Its errors reach our log through the server, once and with their cause.
    logging.getLogger("pygls").setLevel(logging.CRITICAL)
    # With Python's 700 new objects the collector takes a sixth of the start, and of a long parse half.
    gc.set_threshold(*_OBJECTS_BEFORE_COLLECTION)
    from waza_language_server.protocol.later_classes import classes_made_later

    with classes_made_later():
        from waza_language_server.protocol.leaving import end_process
        from waza_language_server.protocol.serving import start

    def serve(port: int | None) -> NoReturn:
        end_process(start(port))

    return serve


def _port(arguments: list[str]) -> int | None:
    """Return the port of ``--tcp PORT``, None for standard input and output.

    Raises ValueError, with a text for the user, for anything else than what language clients say.
    """
    port: int | None = None
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        name, separator, value = argument.partition("=")
        if name == "--tcp":
            number = value if separator else rest.pop(0) if rest else ""
            if not number.isdecimal() or int(number) > 65_535:
                raise ValueError("--tcp needs a port number from 0 to 65535.")
            port = int(number)
        elif name not in ("--stdio", "--clientProcessId"):
            raise ValueError(f"{argument} is not known; see waza-language-server --help.")
    return port


def _print_version() -> None:
    from waza_engine.version import __version__

    say(f"waza-language-server {__version__}")
