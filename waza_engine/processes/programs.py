"""Programs as child processes: bounded in time and output, and never left running."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from waza_engine.counting import in_seconds
from waza_engine.processes.scope import current_scope
from waza_engine.processes.trees import kill_tree, started_tree

OUTPUT_LIMIT_BYTES = 1_000_000
# On Windows a child gets its own process group by a flag; elsewhere `start_new_session` does it.
NEW_GROUP_FLAGS: int = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
_PIPE_GRACE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Finished:
    """How a program ended: its exit code (None when it was killed at its time limit) and its output.

    ``cut`` says that it wrote more to standard output than is kept.
    """

    exit_code: int | None
    stdout: str
    stderr: str
    timed_out: bool = False
    cut: bool = False

    def ended_words(self, timeout_seconds: float) -> str:
        """Return how it ended, as the words after its name: ``exited with 3``."""
        if self.timed_out:
            return f"did not end by itself and was killed after {in_seconds(timeout_seconds)}"
        code = self.exit_code or 0
        if code >= 0:
            return f"exited with {code}"
        with contextlib.suppress(ValueError):
            return f"was ended by the signal {signal.Signals(-code).name}"
        return f"was ended by the signal {-code}"


def run_bounded(
    command: Sequence[str],
    *,
    stdin: str,
    timeout_seconds: float,
    cwd: Path,
    environment: Mapping[str, str],
    without: Collection[str] = (),
    limit_bytes: int = OUTPUT_LIMIT_BYTES,
) -> Finished:
    """Run a program without a shell; kill it with its children when the time is over.

    Of each output stream ``limit_bytes`` are kept, the rest is read and dropped. Raises ``OSError`` when
    the program cannot be started. A program belongs to the scope of the run that is current in this thread.
    It inherits the environment, but not the variables that ``without`` names.
    """
    inherited = {name: value for name, value in os.environ.items() if name not in without}
    scope = current_scope.get()

    def start() -> subprocess.Popen[bytes]:
        return start_program(command, cwd, {**inherited, **environment}, stdin)

    process = start() if scope is None else scope.start(start)
    assert process.stdout is not None
    assert process.stderr is not None
    stdout, stderr = _Reader(process.stdout, limit_bytes), _Reader(process.stderr, limit_bytes)
    timed_out = False
    try:
        with contextlib.nullcontext() if scope is None else scope.holding(process):
            process.wait(timeout_seconds)
    except subprocess.TimeoutExpired:
        timed_out = True
    finally:
        # A child may hold the pipes after its parent ended; wait for the output a moment, not for the child.
        deadline = time.monotonic() + (0 if timed_out else _PIPE_GRACE_SECONDS)
        stdout.join(max(0.0, deadline - time.monotonic()))
        stderr.join(max(0.0, deadline - time.monotonic()))
        kill_tree(process)
    stdout.join(_PIPE_GRACE_SECONDS)
    stderr.join(_PIPE_GRACE_SECONDS)
    code = None if timed_out else process.returncode
    return Finished(code, stdout.text, stderr.text, timed_out, stdout.cut)


def start_program(
    command: Sequence[str], cwd: Path, environment: Mapping[str, str], stdin: str | None
) -> subprocess.Popen[bytes]:
    """Start a program without a shell, in a process group of its own, its output in pipes.

    ``stdin`` is sent while it runs; None gives it nothing to read. Raises ``OSError`` when it cannot be
    started.
    """
    process = start_marked(
        command,
        cwd,
        environment,
        stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    if stdin is not None and process.stdin is not None:
        _Writer(process.stdin, stdin.encode("utf-8", "replace")).start()
    return process


def start_marked(
    command: Sequence[str], cwd: Path, environment: Mapping[str, str], *, stdin: int, stderr: int
) -> subprocess.Popen[bytes]:
    """Start a program in a process group of its own, so that ``kill_tree`` finds all that it starts.

    ``stdin`` and ``stderr`` are as ``subprocess`` has them. Raises ``OSError`` when it cannot be started.
    """
    return started_tree(
        lambda mark: subprocess.Popen(
            list(command),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            cwd=cwd,
            env={**environment, **mark},
            start_new_session=True,
            creationflags=NEW_GROUP_FLAGS,
        )
    )


class _Reader(threading.Thread):
    def __init__(self, stream: IO[bytes], limit_bytes: int) -> None:
        super().__init__(daemon=True)
        self._stream = stream
        self._limit_bytes = limit_bytes
        self._kept = bytearray()
        self.cut = False
        self.start()

    @property
    def text(self) -> str:
        return bytes(self._kept).decode("utf-8", "replace")

    def run(self) -> None:
        with contextlib.suppress(OSError, ValueError), self._stream:
            while chunk := os.read(self._stream.fileno(), 65536):
                room = max(0, self._limit_bytes - len(self._kept))
                self._kept += chunk[:room]
                self.cut = self.cut or len(chunk) > room


class _Writer(threading.Thread):
    def __init__(self, stream: IO[bytes], content: bytes) -> None:
        super().__init__(daemon=True)
        self._stream = stream
        self._content = content

    def run(self) -> None:
        # A program need not read its input: a closed pipe is no error.
        with contextlib.suppress(OSError, ValueError):
            self._stream.write(self._content)
        with contextlib.suppress(OSError, ValueError):
            self._stream.close()
