"""Runs of the real command that meet a fault: how long they take, and what is left behind."""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil


@dataclass(frozen=True, slots=True)
class FaultyRun:
    """A run that has ended. ``document`` is its result file."""

    exit_code: int
    seconds: float
    stdout: str
    stderr: str
    document: dict[str, Any]

    def task(self, identifier: str) -> dict[str, Any]:
        return next(task for task in self.document["tasks"] if task["test_id"] == identifier)

    def verdict(self, task: str, grader: str) -> dict[str, Any]:
        return dict(self.task(task)["runs"][0]["validations"][grader])


def faulty_run(suite: Path, *options: str, temporary: Path) -> FaultyRun:
    """Run a suite with the command; its workspaces are made below ``temporary``, which must exist."""
    output = temporary.parent / "result.json"
    command = [sys.executable, "-m", "waza_engine", "run", str(suite), "-o", str(output), *options]
    started = time.monotonic()
    found = subprocess.run(
        command,
        capture_output=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONUTF8": "1", "TMPDIR": str(temporary)},
    )
    return FaultyRun(
        exit_code=found.returncode,
        seconds=time.monotonic() - started,
        stdout=found.stdout.decode(),
        stderr=found.stderr.decode(),
        document=json.loads(output.read_bytes()) if output.exists() else {},
    )


def started(
    suite: Path,
    temporary: Path,
    *options: str,
    stdout: int = subprocess.DEVNULL,
    stderr: int | None = None,
    start_new_session: bool = False,
) -> subprocess.Popen[bytes]:
    """Start a run of a suite; its workspaces are made below ``temporary``."""
    command = [sys.executable, "-m", "waza_engine", "run", str(suite), *options]
    environment = {**os.environ, "TMPDIR": str(temporary)}
    return subprocess.Popen(
        command, stdout=stdout, stderr=stderr, start_new_session=start_new_session, env=environment
    )


def run_on_a_full_disk(
    most: int, suite: Path, *options: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a suite with a limit on the size of files, which fails the same writes as a full disk."""
    code = (
        "import resource, signal, sys; from waza_engine.cli import main;"
        " signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        f" resource.setrlimit(resource.RLIMIT_FSIZE, ({most}, {most})); main()"
    )
    command = [sys.executable, "-B", "-c", code, "run", str(suite), *options]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, env={**os.environ, **environment}
    )


def marked_processes(mark: str) -> list[psutil.Process]:
    """Return the living processes with this text in their command line."""
    return [
        process
        for process in psutil.process_iter(["cmdline", "status"])
        if mark in " ".join(process.info["cmdline"] or ())
        and process.pid != os.getpid()
        and process.info["status"] != psutil.STATUS_ZOMBIE
    ]
