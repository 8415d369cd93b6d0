"""Run scripts that drive a real VS Code, and end them with all their child processes."""

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.installations import one_at_a_time

REPOSITORY = Path(__file__).parents[2]
EXTENSION = REPOSITORY / "vscode-extension"
FOLDER = Path(__file__).parent
INSTALL = FOLDER / "install.mjs"

NEEDS_VSCODE = [
    pytest.mark.skipif(os.environ.get("WAZA_SKIP_VSCODE") == "1", reason="WAZA_SKIP_VSCODE=1 is set"),
    pytest.mark.skipif(
        sys.platform != "linux" or platform.machine() not in {"x86_64", "aarch64"},
        reason="the VS Code under test exists for Linux on x64 and arm64 only",
    ),
]


def play(name: str, arguments: dict[str, Path], seconds: float = 300) -> None:
    """Install VS Code if needed, and run a scenario in it."""
    install_vscode()
    # Paths of sockets must be short, so the temporary folder is not below that of the test.
    with tempfile.TemporaryDirectory(prefix="vs-", ignore_cleanup_errors=True) as temporary:
        run(
            "node",
            str(FOLDER / name),
            *(part for option, value in arguments.items() for part in (f"--{option}", str(value))),
            cwd=REPOSITORY,
            seconds=seconds,
            temporary=temporary,
        )


def install_vscode() -> None:
    """Install the VS Code under test unless it exists."""
    with one_at_a_time("vscode-under-test"):
        run("node", str(INSTALL), cwd=REPOSITORY, seconds=1_200)


def run(command: str, *arguments: str, cwd: Path, seconds: float, temporary: str | None = None) -> None:
    """Run a command; fail with its output after an error, and kill its processes after a timeout.

    ``temporary`` is the folder for temporary files; by default a new one that is removed afterwards.
    """
    if temporary is None:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as own:
            run(command, *arguments, cwd=cwd, seconds=seconds, temporary=own)
        return
    executable = shutil.which(command)
    assert executable is not None, f"{command} is not on PATH: Node.js 20 or newer is needed"
    process = subprocess.Popen(
        [executable, *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHON": sys.executable, "TMPDIR": temporary},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        kill_tree(process.pid)
        output, _ = process.communicate()
        pytest.fail(f"{command} {' '.join(arguments)} did not end within {seconds} s:\n{output}")
    except BaseException:
        kill_tree(process.pid)  # an interrupt from the keyboard reaches only this process
        raise
    if process.returncode != 0:
        pytest.fail(f"{command} {' '.join(arguments)} failed with exit code {process.returncode}:\n{output}")
    sys.stdout.write(output)


def kill_tree(pid: int) -> None:
    """Kill a process and its descendants."""
    for process in [*psutil.Process(pid).children(recursive=True), psutil.Process(pid)]:
        with suppress(psutil.NoSuchProcess):
            process.kill()
