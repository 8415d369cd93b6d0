"""What the kernel sees while a stranger's repository is looked at (Linux, with ``strace``)."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile.conversation import conversation
from tests.hostile.repository import HostileRepository, write_hostile_repository

BIN = Path(sys.executable).parent
ZERO = Path("/dev/zero")
READ = re.compile(r"^\d+ +(?:read|pread64|getdents64)\(\d+<(?P<path>[^>]*)>", re.MULTILINE)
EXECUTED = re.compile(r'^\d+ +execve\("(?P<program>[^"]*)"', re.MULTILINE)
CONNECTED = re.compile(r"^\d+ +connect\(.*(?:AF_INET|AF_INET6).*", re.MULTILINE)
SMALL = (
    "pattern_bombs",
    "pipes",
    "descriptors",
    "links",
    "names",
    "fetching",
    "executing",
    "committed_results",
    "dense_results",
)


def can_trace() -> bool:
    """Whether there is an ``strace`` that may trace."""
    strace = shutil.which("strace")
    if sys.platform != "linux" or strace is None:
        return False
    return (
        subprocess.run([strace, "-o", os.devnull, "true"], capture_output=True, check=False).returncode == 0
    )


pytestmark = [
    pytest.mark.check,
    pytest.mark.skipif(not can_trace(), reason="strace is not there or may not trace"),
]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostileRepository]:
    folder = tmp_path_factory.mktemp("traced")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield write_hostile_repository(folder, listener.getsockname()[1])
    shutil.rmtree(folder)


def test_checking_executes_connects_and_reads_nothing_else(
    repository: HostileRepository, tmp_path: Path
) -> None:
    folders = [str(repository.root / folder) for folder in SMALL]
    calls = _trace(tmp_path, repository.root, ["waza-language-server", "check", *folders])
    _assert_harmless(calls, repository)
    assert not repository.executed


@pytest.mark.parametrize("folder", SMALL)
def test_showing_executes_connects_and_reads_nothing_else(
    repository: HostileRepository, tmp_path: Path, folder: str
) -> None:
    file = _eval_file(repository.root / folder)
    calls = _trace(tmp_path, repository.root, ["waza-language-server", "show", str(file)])
    _assert_harmless(calls, repository)
    assert not repository.executed


def test_an_editor_in_restricted_mode_starts_no_process(
    repository: HostileRepository, tmp_path: Path
) -> None:
    messages = tmp_path / "messages"
    messages.write_bytes(
        conversation(
            repository.root,
            [path for name in SMALL for path in repository.root.glob(f"{name}/eval.yaml") if path.is_file()],
        )
    )
    calls = _trace(tmp_path, repository.root, ["waza-language-server", "--stdio"], messages)
    _assert_harmless(calls, repository)


def _eval_file(folder: Path) -> Path:
    return next(path for path in (folder / "eval.yaml", folder / "a" / "b" / "eval.yaml") if path.is_file())


def _trace(tmp_path: Path, cwd: Path, command: list[str], messages: Path | None = None) -> str:
    """Return the system calls of a command that is given these messages to read."""
    calls = tmp_path / "calls"
    traced = ["strace", "-f", "-qq", "-y", "-s", "4096", "-e", "trace=execve,connect,read,pread64,getdents64"]
    with (messages or Path(os.devnull)).open("rb") as stdin:
        done = subprocess.run(
            [*traced, "-o", str(calls), str(BIN / command[0]), *command[1:]],
            cwd=cwd,
            stdin=stdin,
            capture_output=True,
            timeout=120,
            check=False,
        )
    assert done.returncode in (0, 1, 2), done.stderr[-2000:]
    return calls.read_text("utf-8", "replace")


def _assert_harmless(calls: str, repository: HostileRepository) -> None:
    programs = {match["program"] for match in EXECUTED.finditer(calls)}
    # The console script, and what its first line names.
    assert {Path(program).parent for program in programs} <= {BIN}, programs
    assert CONNECTED.findall(calls) == []
    read = {Path(match["path"]) for match in READ.finditer(calls)}
    assert [path for path in read if path.is_relative_to(repository.outside) or path == ZERO] == []
    code = [path for path in read if path.suffix in (".py", ".pyc")]
    assert [path for path in code if path.is_relative_to(repository.root)] == []
