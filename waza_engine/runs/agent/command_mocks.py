"""Mocked programs of a trial: small programs on the ``PATH`` that answer as the suite defines.

They are in a directory of this process, outside every workspace; their answers belong to a trial and are
deleted with it.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shlex
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from waza_engine.boundary import suite_boundary
from waza_engine.executors import command_shim
from waza_engine.executors.executor import MockedCommands
from waza_engine.files import FileError, read_bytes
from waza_engine.results.json_values import Block, blocks_of, text_of, texts_of
from waza_engine.runs.agent.trial_workspace import WorkspaceError
from waza_engine.runs.loading.suite_on_disk import Suite
from waza_engine.spec.command_mocks import (
    SEQUENCE_NEEDS,
    CommandMock,
    CommandOutput,
    CommandResponse,
    CommandStep,
    has_sequence,
)
from waza_engine.spec.task_file import TaskFile
from waza_engine.vocabulary import CommandInvocation

SERVING = ("copilot-sdk", "openai", "command")
"""The executors whose agents start programs."""
_MOST_BYTES = 16 * 1024 * 1024


class CommandSession:
    """The mocked programs of one trial, and their calls so far."""

    def __init__(self, commands: MockedCommands | None, mocks: Sequence[CommandMock], folder: Path) -> None:
        self.commands = commands
        self._mocks = mocks
        self._folder = folder

    def invocations(self) -> tuple[CommandInvocation, ...]:
        """Return the calls in the order in which they ended."""
        if not self._mocks:
            return ()
        calls: list[Block] = []
        for path in sorted((self._folder / "calls").glob("*.json")):
            calls += blocks_of([json.loads(path.read_text("utf-8"))])
        return tuple(
            CommandInvocation(
                text_of(call.get("command")),
                texts_of(call.get("args")),
                int(call.get("exit_code") or 0),
                int(call.get("response_index") or 0),
            )
            for call in calls
        )

    def unmet(self, calls: Sequence[CommandInvocation]) -> list[str]:
        """Return a sentence for each program that was called more or less often than expected."""
        counts = [
            (mock, sum(call.command.casefold() == mock.name.casefold() for call in calls))
            for mock in self._mocks
        ]
        return [
            f"`{mock.name}` was called {_times(count)}, expected were {_times(mock.expect_calls)}"
            for mock, count in counts
            if mock.expect_calls is not None and count != mock.expect_calls
        ]

    @property
    def expects_calls(self) -> bool:
        """Return whether a mock limits how often a program is called."""
        return any(mock.expect_calls is not None for mock in self._mocks)


def mocks_of(suite: Suite, task: TaskFile) -> tuple[CommandMock, ...]:
    """Return the mocked programs of a task: its own list replaces the suite's."""
    return suite.spec.command_mocks if task.command_mocks is None else task.command_mocks


def mocked_programs(suite: Suite) -> tuple[str, ...]:
    """Return the names of the programs that any task mocks."""
    mocks = (mock for task in suite.tasks if task.task is not None for mock in mocks_of(suite, task.task))
    return tuple(sorted({mock.name for mock in mocks}))


@contextlib.contextmanager
def blocked_programs(names: Sequence[str]) -> Generator[MockedCommands | None]:
    """Provide mocked programs for a call outside of trials, where each of them fails; None without any."""
    if not names:
        yield None
        return
    with _ROOT.held():
        _put_programs(names)
        yield MockedCommands(_ROOT.path / "bin")


@contextlib.contextmanager
def command_programs(suite: Suite, warn: Callable[[str], None]) -> Generator[None]:
    """Hold the directory of mocked programs during a pass; warn if the executor starts no programs."""
    executor, programs = suite.spec.config.executor, mocked_programs(suite)
    if programs and executor not in SERVING:
        warn(f"`command_mocks` has no effect: the executor `{executor}` starts no programs")
    with _ROOT.held() if programs and executor in SERVING else contextlib.nullcontext():
        yield


@contextlib.contextmanager
def mocked_commands(
    suite: Suite, task: TaskFile, workspace: Path, executor: str
) -> Generator[CommandSession]:
    """Provide the mocked programs of a trial while the block lasts.

    ``command_programs`` must be around it. Raises ``WorkspaceError`` for a mock that cannot be used.
    """
    mocks = mocks_of(suite, task)
    if not mocks or executor not in SERVING:
        # The agent may call what other tasks mock.
        is_mocked = executor in SERVING and mocked_programs(suite)
        commands = MockedCommands(_ROOT.path / "bin") if is_mocked else None
        yield CommandSession(commands, (), workspace)
        return
    if suite.spec.scenario is None and has_sequence(mocks):
        raise WorkspaceError(f"`command_mocks`: {SEQUENCE_NEEDS}")
    written = [_mock(mock, suite.directory) for mock in mocks]
    _put_programs(mock.name for mock in mocks)
    with tempfile.TemporaryDirectory(
        prefix="task-", dir=_ROOT.path / "sessions", ignore_cleanup_errors=True
    ) as made:
        folder = Path(made)
        (folder / "calls").mkdir()
        config = {"workspace": str(workspace.resolve()), "mocks": written}
        (folder / "new").write_text(json.dumps(config), "utf-8")
        (folder / "new").replace(folder / "config.json")
        yield CommandSession(MockedCommands(_ROOT.path / "bin", folder), mocks, folder)


class _Root:
    """The directory of this process's mocked programs, there while a run needs it.

    Its name stays the same: an agent that serves several passes of a run keeps its ``PATH``.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self.path = Path(tempfile.gettempdir()) / f"waza-commands-{secrets.token_hex(8)}"

    @contextlib.contextmanager
    def held(self) -> Generator[None]:
        with self._lock:
            if not self._users:
                for folder in (self.path, self.path / "bin", self.path / "sessions"):
                    folder.mkdir(mode=0o700)
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if not self._users:
                    shutil.rmtree(self.path, ignore_errors=True)


_ROOT = _Root()


def _put_programs(names: Iterable[str]) -> None:
    root, shim = _ROOT.path, Path(command_shim.__file__)
    for name in names:
        command = [sys.executable, "-I", str(shim), str(root), name]
        windows = os.name == "nt"
        path = root / "bin" / (f"{name}.cmd" if windows else name)
        if path.exists():
            continue
        quoted = " ".join(f'"{part}"' for part in command) if windows else shlex.join(command)
        text = f"@{quoted} %*\r\n" if windows else f'#!/bin/sh\nexec {quoted} "$@"\n'
        fresh = path.with_name(f".{path.name}.{os.urandom(4).hex()}")
        fresh.write_bytes(text.encode())
        fresh.chmod(0o755)
        fresh.replace(path)


def _mock(mock: CommandMock, suite_directory: Path) -> dict[str, Any]:
    where = f"`command_mocks`: `{mock.name}`"
    return {
        "name": mock.name,
        "responses": [_response(response, suite_directory, where) for response in mock.responses],
    }


def _response(response: CommandResponse, suite_directory: Path, where: str) -> Mapping[str, Any]:
    # Import here: the modules that know the regex dialects load slowly.
    from waza_engine.graders.matching.patterns import PatternError, check_syntax

    for pattern in response.args_regex or ():
        try:
            check_syntax(pattern)
        except PatternError as error:
            raise WorkspaceError(f"{where}: {error}") from None
    return {
        "args": response.args,
        "args_regex": response.args_regex,
        "environment": dict(response.environment),
        "workdir": response.workdir,
        "steps": None
        if response.sequence is None
        else [_output(step, suite_directory, where) for step in response.sequence],
        **_output(response, suite_directory, where),
    }


def _output(output: CommandOutput, suite_directory: Path, where: str) -> Mapping[str, Any]:
    return {
        "stdout": _stdout(output, suite_directory, where).hex(),
        "stderr": output.stderr,
        "exit_code": output.exit_code,
        "delay_ms": output.delay_ms if isinstance(output, CommandStep) else 0,
    }


def _stdout(output: CommandOutput, suite_directory: Path, where: str) -> bytes:
    if output.fixture:
        place = suite_directory / output.fixture
        try:
            return read_bytes(place, _MOST_BYTES, within=suite_boundary(suite_directory))
        except FileError as error:
            raise WorkspaceError(
                f"{where}: the fixture `{output.fixture}` cannot be read: {error.why}"
            ) from None
    if output.stdout is None:
        return b""
    if isinstance(output.stdout, str):
        return output.stdout.encode("utf-8", "replace")
    return json.dumps(output.stdout, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _times(count: int | None) -> str:
    return {0: "never", 1: "once"}.get(count or 0, f"{count} times")
