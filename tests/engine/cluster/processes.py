"""A scheduler and workers as processes of their own, as on other machines."""

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.engine.cluster.ledgers import until
from tests.engine.suites import present
from waza_engine.cluster.certificates import make_certificates


class Machine:
    """A process whose output is kept; it is killed at the end.

    Its temporary files are in a folder of its own, because a killed process leaves them.
    """

    def __init__(self, *command: object) -> None:
        self.lines: list[str] = []
        self._temporary = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.process = subprocess.Popen(
            [sys.executable, *map(str, command)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "TMPDIR": self._temporary.name},
        )
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()

    @property
    def text(self) -> str:
        return "".join(self.lines)

    def wait_for(self, text: str) -> None:
        until(lambda: text in self.text or self.process.poll() is not None, f"{text} is not said")
        assert text in self.text, self.text

    def ended(self, seconds: float = 180.0) -> int:
        """Wait for the end and for the last of the output; return the exit code."""
        code = self.process.wait(seconds)
        self._reading.join(5)  # what it started may hold its output
        return code

    def close(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._temporary.cleanup()

    def _read(self) -> None:
        self.lines.extend(present(self.process.stdout))


def engine(*arguments: object) -> Machine:
    return Machine("-u", "-m", "waza_engine", *arguments)


class Cluster:
    """A scheduler and workers, each with two slots, with TLS unless ``is_plain``."""

    def __init__(
        self, folder: Path, workers: int = 2, *, is_plain: bool = False, host: str = "127.0.0.1"
    ) -> None:
        self.certificates = folder / "certificates"
        with socket.socket() as free:
            free.bind((host, 0))
            port = free.getsockname()[1]
        self.address = f"{'tcp' if is_plain else 'tls'}://{host}:{port}"
        self.tls: list[Any] = [] if is_plain else ["--tls", self.certificates]
        if not is_plain:
            make_certificates(self.certificates)
        self._count = workers
        self.workers: list[Machine] = []

    def __enter__(self) -> Self:
        self.start_scheduler()
        self.repair()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for machine in (*self.workers, self.scheduler):
            machine.close()

    def repair(self) -> None:
        """Start what a test has ended."""
        if self.scheduler.process.poll() is not None:
            for machine in (*self.workers, self.scheduler):
                machine.close()
            self.workers.clear()
            self.start_scheduler()
        for machine in [each for each in self.workers if each.process.poll() is not None]:
            self.workers.remove(machine)
            machine.close()
        while len(self.workers) < self._count:
            self.add_worker()
        for machine in self.workers:
            machine.wait_for("works for")

    def start_scheduler(self) -> None:
        self.scheduler = engine("cluster", "scheduler", self.address, *self.tls)
        self.scheduler.wait_for("the scheduler is at")

    def add_worker(self) -> Machine:
        self.workers.append(engine("worker", self.address, "--slots", 2, *self.tls))
        return self.workers[-1]

    def run(self, *arguments: object) -> Machine:
        return engine("run", *arguments, "--cluster", self.address, *self.tls)


def engine_of(worker: Machine) -> int:
    """Return the process that executes trials: it names itself."""
    found = present(re.search(r"-(\d+)-[0-9a-f]{6} works for", worker.text))
    return int(found[1])
