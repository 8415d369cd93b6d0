"""The commands for terminals: in this process where their words matter, else in one of their own."""

import contextlib
import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NoReturn
from unittest import mock

from waza_engine.command_line import run_application, run_command_line

LIMIT_SECONDS = 120
"""A command takes about one second; one that waits for what never comes takes for ever."""

# What a command changes for the whole process: its own process ends soon.
_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


@dataclass(frozen=True, slots=True)
class Finished:
    """A command that has ended."""

    returncode: int
    stdout: str
    stderr: str


def engine(*arguments: object, cwd: Path | None = None) -> Finished:
    """Carry out a command of ``waza-engine`` here, which takes a tenth of the time of starting a process.

    Raises TimeoutError for one that does not end.
    """
    from waza_engine.commands.application import application

    # Not through ``main``, which would divide this process so that programs end with it.
    command = partial(run_command_line, partial(run_application, application, "waza-engine"))
    return _outcome_of("waza-engine", command, arguments, cwd)


def stdout_of(*arguments: object, code: int = 0, cwd: Path | None = None) -> str:
    """Return what a command of ``waza-engine`` writes that ends with an exit code."""
    found = engine(*arguments, cwd=cwd)
    assert found.returncode == code, found
    return found.stdout


def stderr_of(*arguments: object, code: int = 2, cwd: Path | None = None) -> str:
    """Return what a command of ``waza-engine`` complains of that ends with an exit code; likewise."""
    found = engine(*arguments, cwd=cwd)
    assert found.returncode == code, found
    return found.stderr


def harness(*arguments: object, cwd: Path | None = None) -> Finished:
    """Carry out a command of ``waza-harness`` here; likewise."""
    from waza_engine.commands.harness import harness as application

    carried = partial(run_application, application, "waza-harness", wrong_arguments=1)
    return _outcome_of("waza-harness", partial(run_command_line, carried), arguments, cwd)


def language_server(*arguments: object, cwd: Path | None = None) -> Finished:
    """Carry out a command of ``waza-language-server`` here; likewise."""
    from waza_language_server.cli import main

    return _outcome_of("waza-language-server", main, arguments, cwd)


def engine_process(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Carry out a command in a process of its own, as a shell would."""
    command = [sys.executable, "-m", "waza_engine", *map(str, arguments)]
    environment = {**os.environ, "PYTHONUTF8": "1"}
    return subprocess.run(
        command, capture_output=True, encoding="utf-8", timeout=LIMIT_SECONDS, check=False, env=environment
    )


def _outcome_of(
    name: str, command: Callable[[], None], arguments: Sequence[object], cwd: Path | None
) -> Finished:
    output, complaints = _standard_stream(), _standard_stream()
    handlers = [(number, signal.getsignal(number)) for number in _SIGNALS]
    code: object = 0
    try:
        with (
            _limited(),
            contextlib.chdir(cwd or Path.cwd()),
            mock.patch.object(sys, "argv", [name, *map(str, arguments)]),
            contextlib.redirect_stdout(output),
            contextlib.redirect_stderr(complaints),
        ):
            command()
    except SystemExit as leaving:
        code = leaving.code
    finally:
        for number, handler in handlers:
            signal.signal(number, handler)
    assert isinstance(code, int)
    return Finished(code, _written_to(output), _written_to(complaints))


@contextlib.contextmanager
def _limited() -> Generator[None]:
    def give_up(*_: object) -> NoReturn:
        raise TimeoutError(f"a command did not end within {LIMIT_SECONDS} s")

    if sys.platform == "win32":
        yield
        return
    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(LIMIT_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _standard_stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)


def _written_to(stream: io.TextIOWrapper) -> str:
    stream.flush()
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue().decode("utf-8")
