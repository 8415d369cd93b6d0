"""A stranger's repository is looked at: by an editor, and by the commands that only look.

Nothing of it is executed, connected to, followed or fetched; it costs little memory, and every request is
answered soon.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psutil
import pytest
from lsprotocol import types

from tests.hostile.repository import HostileRepository, write_hostile_repository
from tests.protocol.editor import Editor, editing, is_told_to_ask_again

pytestmark = pytest.mark.check

MOST_MEMORY_BYTES = 200 * 2**20
# Of the server's own time. It finds what grows without bound; how fast answers are, `make bench` measures.
SLOWEST_ANSWER_SECONDS = 10.0
SLOWEST_COMMAND_SECONDS = 240
BIN = Path(sys.executable).parent
UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture(scope="module")
def listener() -> Iterator[socket.socket]:
    """Waits for what must never come: a connection."""
    with socket.create_server(("127.0.0.1", 0)) as waiting:
        waiting.setblocking(False)
        yield waiting


@pytest.fixture(scope="module")
def repository(
    tmp_path_factory: pytest.TempPathFactory, listener: socket.socket
) -> Iterator[HostileRepository]:
    folder = tmp_path_factory.mktemp("stranger")
    yield write_hostile_repository(folder, listener.getsockname()[1])
    shutil.rmtree(folder)


@pytest.fixture(autouse=True)
def _nothing_happens(repository: HostileRepository, listener: socket.socket) -> Iterator[None]:
    yield
    assert not repository.executed
    with pytest.raises(BlockingIOError):
        closing(listener.accept()[0])


class Stopwatch:
    """How long a server worked on its answers, in seconds of its own."""

    def __init__(self, process_id: int) -> None:
        self._process = psutil.Process(process_id)
        self.answers: list[tuple[float, str]] = []

    async def of(self, what: str, answer: Awaitable[Any]) -> Any:
        started = self._now()
        result = await answer
        self.answers.append((self._now() - started, what))
        return result

    def _now(self) -> float:
        times = self._process.cpu_times()
        return times.user + times.system

    @property
    def slowest(self) -> list[tuple[float, str]]:
        return sorted(self.answers, reverse=True)[:5]


async def test_an_editor_looks_at_every_file(repository: HostileRepository) -> None:
    options = {"trusted": False}
    async with editing(repository.root, pulls=True, options=options, limit=is_told_to_ask_again) as editor:
        watch = Stopwatch(editor.process_id)
        for path in _some_of_each_folder(repository):
            await _look_at(editor, path, watch)
        symbols = types.WorkspaceSymbolParams("")
        await watch.of("workspace symbols", editor.workspace_symbol_async(symbols))
        memory = _peak_memory_bytes(editor.process_id)
    assert memory < MOST_MEMORY_BYTES, f"{memory / 2**20:.0f} MiB"
    assert watch.slowest[0][0] < SLOWEST_ANSWER_SECONDS, watch.slowest


def text_of(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


def _some_of_each_folder(repository: HostileRepository) -> Iterator[Path]:
    seen: dict[Path, int] = {}
    for path in repository.files:
        seen[path.parent] = seen.get(path.parent, 0) + 1
        if seen[path.parent] <= 2:
            yield path


async def _look_at(editor: Editor, path: Path, watch: Stopwatch) -> None:
    text = text_of(path)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    document = types.TextDocumentIdentifier(editor.open(path, text))
    name = f"{path.parent.name}/{path.name!r}"
    last = types.Position(len(lines) - 1, len(lines[-1]))
    for line in (0, 6, len(lines) // 2, len(lines) - 1):
        position = types.Position(line, len(lines[line]) if line < len(lines) else 0)
        where = f"{name}:{line}"
        completion = types.CompletionParams(document, position)
        await watch.of(f"completion {where}", editor.text_document_completion_async(completion))
        hover = types.HoverParams(document, types.Position(line, 3))
        await watch.of(f"hover {where}", editor.text_document_hover_async(hover))
        await _navigate(editor, document, types.Position(line, 8), watch, where)
    editor.insert(document.uri, 2, last.line, last.character, "\nx")
    await watch.of(f"hints {name}", editor.hints(document.uri))
    await watch.of(f"lenses {name}", editor.lenses(document.uri))
    everything = types.Range(types.Position(0, 0), last)
    actions = types.CodeActionParams(document, everything, types.CodeActionContext([]))
    await watch.of(f"actions {name}", editor.text_document_code_action_async(actions))
    await editor.problems(document.uri)
    editor.close(document.uri)


async def _navigate(
    editor: Editor,
    document: types.TextDocumentIdentifier,
    position: types.Position,
    watch: Stopwatch,
    where: str,
) -> None:
    definition = types.DefinitionParams(document, position)
    await watch.of(f"definition {where}", editor.text_document_definition_async(definition))
    context = types.ReferenceContext(include_declaration=True)
    references = types.ReferenceParams(context, document, position)
    await watch.of(f"references {where}", editor.text_document_references_async(references))
    rename = types.RenameParams(document, position, "another")
    await watch.of(f"rename {where}", editor.text_document_rename_async(rename))


COMMANDS = {
    "check": ["waza-language-server", "check", "."],
    "check as JSON": ["waza-language-server", "check", "--format", "json", "names", "links"],
    "list": ["waza-engine", "list"],
    "report": ["waza-engine", "report", "committed_results"],
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS.keys())
def test_a_command_looks_at_all_of_it(repository: HostileRepository, command: list[str]) -> None:
    _command(repository, command)


@pytest.mark.parametrize(
    "file",
    [
        "pattern_bombs/eval.yaml",
        "alias_bombs/eval.yaml",
        "names/eval.yaml",
        "committed_results/eval.yaml",
        "dense_results/eval.yaml",
        "descriptors/.waza.yaml",
        "pipes/eval.yaml",
        "links/tasks/secret.yaml",
    ],
)
def test_show_draws_what_may_be_shown(repository: HostileRepository, file: str) -> None:
    _command(repository, ["waza-language-server", "show", file])


def _command(repository: HostileRepository, command: list[str]) -> None:
    """Run a command in the repository: it ends soon, needs little memory, and prints nothing but text."""
    program = [str(BIN / command[0]), *command[1:]]
    with subprocess.Popen(
        program,
        cwd=repository.root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        watched = psutil.Process(process.pid)
        peak = 0
        output = b""
        deadline = time.monotonic() + SLOWEST_COMMAND_SECONDS
        assert process.stdout is not None
        os.set_blocking(process.stdout.fileno(), False)
        while process.poll() is None:
            output += process.stdout.read() or b""
            with_peak = _peak_memory_bytes(watched.pid) if process.poll() is None else 0
            peak = max(peak, with_peak)
            if time.monotonic() > deadline:
                process.kill()
                pytest.fail(f"{command} does not end")
            time.sleep(0.01)
        output += process.stdout.read() or b""
    assert process.returncode in (0, 1, 2), output[-2000:]
    assert b"Traceback" not in output
    assert peak < MOST_MEMORY_BYTES, f"{peak / 2**20:.0f} MiB"
    found = UNPRINTABLE.search(output.decode("utf-8"))
    assert found is None, output[max(0, found.start() - 100) : found.end() + 100]


def _peak_memory_bytes(pid: int) -> int:
    """Return the most memory that a process has had at once, what it has now where only that is known."""
    try:
        status = Path(f"/proc/{pid}/status").read_text("ascii", "replace")
        peak = re.search(r"VmHWM:\s+(\d+) kB", status)
        return int(peak[1]) * 1024 if peak else 0
    except OSError:
        try:
            return psutil.Process(pid).memory_info().rss
        except psutil.Error:
            return 0
