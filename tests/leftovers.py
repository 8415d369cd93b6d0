"""A test run leaves nothing behind: no process, no temporary file, no change to the repository.

The process that controls a run looks when all others have ended. What a run starts inherits its mark; what it
makes in the temporary directory lies in a folder of its own. So nothing of other people or of another run at
the same time is blamed on it.
"""

import os
import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

# What has been told to end needs a moment on a busy machine.
PATIENCE_SECONDS = 30.0
_MARK = "WAZA_TEST_RUN"
_TEMPORARY_VARIABLES = ("TMPDIR", "TEMP", "TMP")


# Other plug-ins make their own temporary folders before.
@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Watch from the process that controls the run, not from each of those that carry it out."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Leftovers(config.rootpath))


class Leftovers:
    """Marks a run before it starts anything, and fails it when something is left."""

    def __init__(self, repository: Path) -> None:
        self._run = secrets.token_hex(8)
        self._found: list[str] = []
        self._repository = repository
        self._status = _git_status(repository)
        # What pytest itself makes there, it keeps for those who look into a failure.
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())
        self._temporary = Path(tempfile.mkdtemp(prefix="waza-tests-"))
        for name in _TEMPORARY_VARIABLES:
            os.environ[name] = str(self._temporary)
        tempfile.tempdir = None
        # npm and the agent under test would keep what they compile in the temporary directory.
        os.environ["NODE_DISABLE_COMPILE_CACHE"] = "1"
        os.environ[_MARK] = self._run

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Look when the processes that carried out the tests have ended too."""
        self._found = list(self._left())
        shutil.rmtree(self._temporary, ignore_errors=True)
        # A test that failed half-way has not cleaned up.
        if self._found and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what was left."""
        if self._found:
            terminalreporter.section("left behind by the tests", red=True)
            for found in self._found:
                terminalreporter.line(found)

    def _left(self) -> Iterator[str]:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while (processes := list(self._processes())) and time.monotonic() < deadline:
            time.sleep(0.1)
        for process in processes:
            yield f"process {process.pid}: {_command(process)}"
            process.kill()
        for path in sorted(self._temporary.iterdir()):
            yield f"in the temporary directory: {path.name}"
        for line in sorted(_git_status(self._repository) - self._status):
            yield f"in the repository: {line}"

    def _processes(self) -> Iterator[psutil.Process]:
        for process in psutil.process_iter():
            try:
                is_ours = process.environ().get(_MARK) == self._run
                if is_ours and process.status() != psutil.STATUS_ZOMBIE:
                    yield process
            except (psutil.Error, OSError):
                continue


def _command(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())[:300]
    except psutil.Error:
        return "(it has ended)"


def _git_status(repository: Path) -> set[str]:
    """Return the lines of ``git status``; none outside of a clone."""
    git = shutil.which("git")
    if git is None or not (repository / ".git").exists():
        return set()
    done = subprocess.run(
        [git, "--no-optional-locks", "status", "--porcelain", "--untracked-files=all"],
        cwd=repository,
        capture_output=True,
        text=True,
        check=False,
    )
    return set(done.stdout.splitlines())
