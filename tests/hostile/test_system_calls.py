"""What the kernel sees while a stranger's repository is looked at (Linux, with ``strace``)."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.hostile.repository import HostileRepository, write_hostile_repository
from waza_language_server.project.uris import uri_of

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


@pytest.mark.parametrize("folder", ["executing", "fetching", "links"])
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


def conversation(root: Path, files: Sequence[Path]) -> bytes:
    """Return the messages that open these files, ask everything about them, and leave."""
    said: list[dict[str, Any]] = []

    def ask(method: str, params: Any = None) -> None:
        said.append({"id": len(said) + 1, "method": method, "params": params})

    folder = {"uri": uri_of(root), "name": "stranger"}
    options = {"trusted": False}
    ask("initialize", {"capabilities": {}, "workspaceFolders": [folder], "initializationOptions": options})
    said.append({"method": "initialized", "params": {}})
    for path in files:
        for method, params in _about(path):
            if method == "textDocument/didOpen":
                said.append({"method": method, "params": params})
            else:
                ask(method, params)
    ask("shutdown")
    said.append({"method": "exit"})
    return b"".join(map(_framed, said))


def _about(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    text = path.read_bytes().decode("utf-8", "replace")
    document = {"uri": uri_of(path)}
    opened = {**document, "languageId": "yaml", "version": 1, "text": text}
    yield "textDocument/didOpen", {"textDocument": opened}
    lines = text.split("\n")
    for line, words in enumerate(lines[:60]):
        position = {"line": line, "character": len(words)}
        yield "textDocument/completion", {"textDocument": document, "position": position}
        yield "textDocument/hover", {"textDocument": document, "position": {"line": line, "character": 3}}
    everything = {"start": {"line": 0, "character": 0}, "end": {"line": len(lines), "character": 0}}
    asked = {"textDocument": document, "range": everything}
    yield "textDocument/codeAction", {**asked, "context": {"diagnostics": []}}
    yield "textDocument/inlayHint", asked
    yield "textDocument/codeLens", {"textDocument": document}
    yield "textDocument/diagnostic", {"textDocument": document}


def _framed(message: dict[str, Any]) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
