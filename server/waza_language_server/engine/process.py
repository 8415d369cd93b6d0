"""The engine as a child process: started with the first run, controlled by JSON-RPC, ended with the server.

The child is ``python -m waza_engine serve`` in the interpreter chosen for the folder, in a process group of
its own. One JSON object a line goes each way; ``waza_engine/json_rpc.py`` dispatches them. The standard error
of the child goes to the log, and its last lines explain a crash.

Architecture invariant: nothing of a suite runs in the server process, and no engine outlives the server: it
is killed with everything it started, and it ends by itself when its standard input closes.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import queue
import subprocess
import sys
import threading
from collections import deque
from functools import partial
from subprocess import PIPE, Popen, TimeoutExpired
from typing import IO, TYPE_CHECKING, Any, cast

from waza_engine.json_rpc import Endpoint
from waza_engine.processes.trees import end_process_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future

LONGEST_LINE_BYTES = 64 * 2**20
STDERR_TAIL_LINES = 40
CHUNK_BYTES = 2**16

log = logging.getLogger(__name__)

Params = dict[str, Any]


class EngineError(Exception):
    """The engine cannot be started, has ended, or refused a request; the text is for the user."""


class EngineProcess:
    """One engine child. All methods belong to the event loop that called ``start``.

    Threads read from, write to and wait for the child. So ``start`` is synchronous, no half-started child can
    be forgotten, and the end of the event loop waits for no thread.
    """

    def __init__(
        self,
        interpreter: str,
        *,
        on_event: Callable[[Params], None],
        on_exit: Callable[[EngineProcess, str], None],
        on_verdicts: Callable[[Params], None] = lambda _: None,
        arguments: Sequence[str] = ("-P", "-m", "waza_engine", "serve"),
    ) -> None:
        """Prepare the process; ``start`` starts it.

        ``on_event`` gets every ``run.event``, ``on_verdicts`` every ``live.verdicts``; ``on_exit`` is called
        once with the reason why the child has ended.
        """
        self.interpreter = interpreter
        self.exit_reason: str | None = None
        """Why the child has ended, None while it has not."""
        self._command = (interpreter, *arguments)
        self._on_exit = on_exit
        self._endpoint = Endpoint({"run.event": on_event, "live.verdicts": on_verdicts}, self._send)
        self._stderr_tail: deque[str] = deque(maxlen=STDERR_TAIL_LINES)
        self._child: Popen[bytes] | None = None
        self._loop = asyncio.get_running_loop()
        self._outgoing: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._gone = asyncio.Event()
        self._has_written = False
        self._waiting: set[asyncio.Future[Any]] = set()

    @property
    def pid(self) -> int | None:
        """The process id while the child is alive."""
        alive = self._child is not None and self._child.returncode is None
        return self._child.pid if self._child is not None and alive else None

    def start(self) -> None:
        """Start the child. Raises EngineError when the interpreter cannot be started."""
        try:
            child = Popen(
                self._command,
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                # A thread blocked in reading would hold a buffer's lock, and block the interpreter's end.
                bufsize=0,
                env={**os.environ, "PYTHONUTF8": "1", "PYTHONUNBUFFERED": "1"},
                # A process group of its own, which is ended as one.
                creationflags=_creation_flags(),
                start_new_session=sys.platform != "win32",
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            message = f"The Python interpreter {self.interpreter} cannot be started: {reason}."
            raise EngineError(message) from error
        self._child = child
        _thread(self._write, child)
        output, errors = _thread(self._read_messages, child), _thread(self._read_stderr, child)
        _thread(self._wait, child, output, errors)

    async def request(self, method: str, params: Params) -> Any:
        """Send a request and return its result; EngineError when it is refused or the engine has ended."""
        if self.pid is None:
            raise EngineError(self._describe_exit())
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.add(answer)
        self._endpoint.request(method, params).add_done_callback(partial(_resolve, answer))
        try:
            return await answer
        finally:
            self._waiting.discard(answer)

    async def stop(self, grace_seconds: float) -> None:
        """Close the child's input, which ends it, and kill it after a grace period; return when it has ended.

        A child that has not written anything yet is still loading, and is killed at once.
        """
        if self.pid is not None and self._has_written:
            self._outgoing.put(None)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._gone.wait(), grace_seconds)
        await self.kill()

    async def kill(self) -> None:
        """Kill the child and everything it started; return when it has ended."""
        await asyncio.to_thread(self.kill_now)
        if self._child is not None:
            await self._gone.wait()

    def kill_now(self) -> None:
        """Kill the child without the event loop, at the end of the server; blocks for a moment at most."""
        if self.pid is not None:
            end_process_tree(self.pid)

    def _read_messages(self, child: Popen[bytes]) -> None:
        assert child.stdout is not None
        try:
            with child.stdout as pipe:
                for line in _lines(pipe):
                    self._read(line)
        except (OSError, ValueError) as error:
            log.warning("The engine's output could not be read: %s", error)
        # An engine with closed output has ended, or cannot be used any more.
        try:
            child.wait(timeout=1)
        except TimeoutExpired:
            end_process_tree(child.pid)

    def _read(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            log.warning("The engine wrote a line that is no message: %.200r", line)
            return
        if isinstance(message, dict):
            self._in_loop(self._consume, cast("Params", message))

    def _read_stderr(self, child: Popen[bytes]) -> None:
        assert child.stderr is not None
        with contextlib.suppress(OSError, ValueError), child.stderr as pipe:
            for line in _lines(pipe):
                text = line.decode("utf-8", "replace").rstrip()
                self._stderr_tail.append(text)
                log.info("engine: %s", text)

    def _write(self, child: Popen[bytes]) -> None:
        assert child.stdin is not None
        # A child that is gone closes the pipe; the thread that waits for the child reports that.
        with contextlib.suppress(OSError), child.stdin as pipe:
            while (data := self._outgoing.get()) is not None:
                rest = memoryview(data)
                while rest:
                    rest = rest[pipe.write(rest) :]

    def _wait(self, child: Popen[bytes], output: threading.Thread, errors: threading.Thread) -> None:
        child.wait()
        self._outgoing.put(None)
        # A process that the engine left running may hold a pipe open, so do not wait long for its end.
        output.join(timeout=1)
        errors.join(timeout=0.2)
        self._in_loop(self._finish)

    def _finish(self) -> None:
        reason = self.exit_reason = self._describe_exit()
        for answer in self._waiting:
            if not answer.done():
                answer.set_exception(EngineError(reason))
        self._gone.set()
        # Break the reference cycle through the handlers, since the garbage collector is off.
        self._endpoint = Endpoint({}, lambda _message: None)
        self._on_exit(self, reason)

    def _consume(self, message: Params) -> None:
        self._has_written = True
        try:
            self._endpoint.consume(message)
        except Exception:
            log.exception("A message of the engine could not be handled: %.200r", message)

    def _in_loop(self, call: Callable[..., None], *arguments: Any) -> None:
        with contextlib.suppress(RuntimeError):  # The loop has ended: nothing waits for this any more.
            self._loop.call_soon_threadsafe(call, *arguments)

    def _send(self, message: Params) -> None:
        self._outgoing.put(json.dumps(message).encode() + b"\n")

    def _describe_exit(self) -> str:
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


def _thread(work: Callable[..., None], *arguments: Any) -> threading.Thread:
    thread = threading.Thread(target=work, args=arguments, name=f"engine {work.__name__}", daemon=True)
    thread.start()
    return thread


def _lines(pipe: IO[bytes]) -> Iterator[bytes]:
    """Yield the lines of a pipe that has no buffer. Raises ValueError for one that is too long."""
    begun = bytearray()
    while data := pipe.read(CHUNK_BYTES):
        *lines, rest = data.split(b"\n")
        for line in lines:
            yield bytes(begun) + line
            begun.clear()
        begun += rest
        if len(begun) > LONGEST_LINE_BYTES:
            raise ValueError(f"a line is longer than {LONGEST_LINE_BYTES // 2**20} MiB")
    if begun:
        yield bytes(begun)


def _creation_flags() -> int:
    if sys.platform == "win32":
        return subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW
    return 0


def _resolve(answer: asyncio.Future[Any], done: Future[Any]) -> None:
    if answer.done():
        return
    error = done.exception()
    if error is None:
        answer.set_result(done.result())
    else:
        answer.set_exception(EngineError(str(getattr(error, "message", "") or error)))
