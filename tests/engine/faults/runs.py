"""Runs of the real command that meet a fault, measured: how long, how much memory, what is left behind."""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

# Runs the command as a child of its own, so that the peak of memory is that of this run alone.
_MEASURING = """\
import resource, subprocess, sys
code = subprocess.run([sys.executable, "-m", "waza_engine", *sys.argv[2:]]).returncode
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
open(sys.argv[1], "w").write(str(peak if sys.platform == "darwin" else peak * 1024))
sys.exit(code)
"""


@dataclass(frozen=True, slots=True)
class FaultyRun:
    """A run that has ended. ``document`` is its result file; ``peak_bytes`` the most memory of a process."""

    exit_code: int
    seconds: float
    peak_bytes: int
    stdout: str
    stderr: str
    document: dict[str, Any]

    def task(self, identifier: str) -> dict[str, Any]:
        return next(task for task in self.document["tasks"] if task["test_id"] == identifier)

    def verdict(self, task: str, grader: str) -> dict[str, Any]:
        return dict(self.task(task)["runs"][0]["validations"][grader])


def faulty_run(
    suite: Path, *options: str, temporary: Path, environment: dict[str, str] | None = None
) -> FaultyRun:
    """Run a suite with the command; its workspaces are made below ``temporary``, which must exist."""
    output, peak = temporary.parent / "result.json", temporary.parent / "peak"
    command = [sys.executable, "-c", _MEASURING, str(peak), "run", str(suite), "-o", str(output), *options]
    started = time.monotonic()
    found = subprocess.run(
        command,
        capture_output=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONUTF8": "1", "TMPDIR": str(temporary), **(environment or {})},
    )
    return FaultyRun(
        exit_code=found.returncode,
        seconds=time.monotonic() - started,
        peak_bytes=int(peak.read_text()),
        stdout=found.stdout.decode(),
        stderr=found.stderr.decode(),
        document=json.loads(output.read_bytes()) if output.exists() else {},
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


def tree(directory: Path) -> dict[str, bytes | str]:
    """Return what is below a directory: files with their content, links with their target."""
    return {
        str(path.relative_to(directory)): str(path.readlink()) if path.is_symlink() else path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_symlink() or path.is_file()
    }
