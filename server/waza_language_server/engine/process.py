"""The engine as a child process: started on the first run, spoken to in JSON-RPC, gone when the server goes.

The child is ``python -m waza_engine serve`` in the interpreter chosen for the folder, in a process group of
its own. One JSON object a line goes each way; ``pylsp_jsonrpc`` dispatches them. What the child writes to its
standard error goes to the log, and its last lines explain a crash.

Architecture invariant: nothing of a suite runs in the server process, and no engine outlives the server: it
is killed with everything it started, and it ends by itself when its standard input closes.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import subprocess
import sys
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from pylsp_jsonrpc.endpoint import Endpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future

LONGEST_LINE_BYTES = 64 * 2**20
STDERR_TAIL_LINES = 40

log = logging.getLogger(__name__)

Params = dict[str, Any]


class EngineError(Exception):
    """The engine cannot be started, has ended, or refused a request; the text is for the user."""


class EngineProcess:
    """One engine child. All methods belong to the event loop that called ``start``."""

    def __init__(
        self,
        interpreter: str,
        *,
        on_event: Callable[[Params], None],
        on_exit: Callable[[EngineProcess, str], None],
        arguments: Sequence[str] = ("-P", "-m", "waza_engine", "serve"),
    ) -> None:
        """``on_event`` gets every ``run.event``; ``on_exit`` is told once why the child has ended."""
        self.interpreter = interpreter
        self._command = (interpreter, *arguments)
        self._on_event = on_event
        self._on_exit = on_exit
        self._endpoint = Endpoint({"run.event": on_event}, self._send)
        self._stderr_tail: deque[str] = deque(maxlen=STDERR_TAIL_LINES)
        self._child: asyncio.subprocess.Process | None = None
        self._watcher: asyncio.Task[None] | None = None
        self._waiting: set[asyncio.Future[Any]] = set()

    @property
    def pid(self) -> int | None:
        """The process id while the child is alive."""
        alive = self._child is not None and self._child.returncode is None
        return self._child.pid if self._child is not None and alive else None

    async def start(self) -> None:
        """Start the child. Raises EngineError when the interpreter cannot be started."""
        try:
            self._child = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                limit=LONGEST_LINE_BYTES,
                env={**os.environ, "PYTHONUTF8": "1", "PYTHONUNBUFFERED": "1"},
                **_own_process_group(),
            )
        except OSError as error:
            reason = error.strerror or str(error)
            message = f"The Python interpreter {self.interpreter} cannot be started: {reason}."
            raise EngineError(message) from error
        self._watcher = asyncio.create_task(self._watch(self._child))

    async def request(self, method: str, params: Params) -> Any:
        """Send a request and return its result; EngineError when it is refused or the engine has ended."""
        if self.pid is None:
            raise EngineError(self._obituary())
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.add(answer)
        self._endpoint.request(method, params).add_done_callback(partial(_hand_over, answer))
        try:
            return await answer
        finally:
            self._waiting.discard(answer)

    async def stop(self, grace_seconds: float) -> None:
        """Close the child's input, which ends it, and kill it when it stays; returns when it is gone."""
        if self.pid is not None and self._child is not None and self._child.stdin is not None:
            self._child.stdin.close()
            assert self._watcher is not None
            await asyncio.wait([self._watcher], timeout=grace_seconds)
        await self.kill()

    async def kill(self) -> None:
        """End the child and everything it started, at once; returns when it is gone."""
        if self._child is None:
            return
        if self._child.returncode is None:
            end_process_tree(self._child.pid)
        if self._watcher is not None and self._watcher is not asyncio.current_task():
            await asyncio.wait([self._watcher])

    def kill_now(self) -> None:
        """Do the same without waiting: for the end of the server."""
        if self.pid is not None:
            end_process_tree(self.pid)

    async def _watch(self, child: asyncio.subprocess.Process) -> None:
        output, errors = child.stdout, child.stderr
        assert output is not None
        assert errors is not None
        stderr_reader = asyncio.create_task(self._read_stderr(errors))
        try:
            await self._read_messages(output)
        except (OSError, ValueError) as error:
            log.warning("The engine's output could not be read: %s", error)
        if child.returncode is None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(child.wait(), timeout=1)
            if child.returncode is None:
                end_process_tree(child.pid)
        await child.wait()
        # A process that the engine left behind may hold the pipe open, so its end is not waited for long.
        await asyncio.wait([stderr_reader], timeout=0.2)
        stderr_reader.cancel()
        reason = self._obituary()
        for answer in self._waiting:
            if not answer.done():
                answer.set_exception(EngineError(reason))
        self._on_exit(self, reason)

    async def _read_messages(self, output: asyncio.StreamReader) -> None:
        while line := await output.readline():
            try:
                message = json.loads(line)
            except ValueError:
                log.warning("The engine wrote a line that is no message: %.200r", line)
                continue
            if isinstance(message, dict):
                self._endpoint.consume(cast("Params", message))

    async def _read_stderr(self, errors: asyncio.StreamReader) -> None:
        while line := await errors.readline():
            text = line.decode("utf-8", "replace").rstrip()
            self._stderr_tail.append(text)
            log.info("engine: %s", text)

    def _send(self, message: Params) -> None:
        if self._child is None or self._child.stdin is None or self._child.stdin.is_closing():
            return
        self._child.stdin.write(json.dumps(message).encode() + b"\n")

    def _obituary(self) -> str:
        code = None if self._child is None else self._child.returncode
        last = next((line for line in reversed(self._stderr_tail) if line.strip()), "")
        if "No module named" in last and "waza_engine" in last:
            return (
                f"{self.interpreter} has no waza engine; "
                "install waza-language-server there or choose another interpreter."
            )
        if "nknown option" in "".join(self._stderr_tail):
            return f"{self.interpreter} is older than Python 3.11; choose another interpreter."
        return f"The engine stopped unexpectedly (exit code {code}){f': {last}' if last else ''}."


def end_process_tree(pid: int) -> None:
    """Kill a process, everything it started and its process group; silent about what is gone already."""
    import psutil

    family: list[psutil.Process] = []
    with contextlib.suppress(psutil.Error):
        parent = psutil.Process(pid)
        family = [*parent.children(recursive=True), parent]
    if sys.platform != "win32":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
    for process in family:
        with contextlib.suppress(psutil.Error):
            process.kill()


def _own_process_group() -> dict[str, Any]:
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}
    return {"start_new_session": True}


def _hand_over(answer: asyncio.Future[Any], done: Future[Any]) -> None:
    # The endpoint's own future must never be cancelled: it then tries to set a result on it and fails.
    if answer.done():
        return
    error = done.exception()
    if error is None:
        answer.set_result(done.result())
    else:
        answer.set_exception(EngineError(str(getattr(error, "message", "") or error)))
