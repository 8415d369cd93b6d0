"""The processes that evaluate assertions, one kind for each language: started once, used for many graders.

A worker speaks JSON lines. First line in: its settings. Then a request ``{"context", "assertions",
"replay"}`` is answered by a line ``{"ready"}`` and one line an assertion, ``{"passed", "error",
"timed_out"?}``.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import psutil

from waza_engine.assertions.names import ALLOWED_DUNDER_ATTRIBUTES, INTERNAL_ATTRIBUTES, INTERNAL_PREFIXES
from waza_engine.graders.processes import NEW_GROUP_FLAGS, kill_tree

MEMORY_BYTES = 1_000_000_000
_START_SECONDS = 20.0
_LOOK_SECONDS = 0.2
_HERE = Path(__file__).parent


class MissingInterpreterError(Exception):
    """The interpreter of a language is not installed; the text is for the author of the suite."""


@dataclass(frozen=True, slots=True)
class AssertionOutcome:
    """Whether an assertion was true. ``error`` says why that is unknown: it raised, hung or crashed."""

    passed: bool
    error: str | None = None
    timed_out: bool = False


@dataclass(frozen=True, slots=True)
class Language:
    """How assertions of a language are evaluated.

    ``command`` gets the memory limit in bytes and raises ``MissingInterpreterError``; ``settings`` are sent
    first. ``binds`` tells whether an assertion may bind a name that later ones see, so that it is evaluated
    again when its worker was lost. ``grace_seconds`` is what a worker gets beyond the deadline that it keeps
    itself. ``watched`` means that the interpreter cannot limit its own memory, so it is looked at from here.
    """

    name: str
    command: Callable[[int], Sequence[str]]
    settings: Mapping[str, Any]
    binds: Callable[[str], bool]
    crash: str
    grace_seconds: float = 0.0
    watched: bool = False


def _python(memory_bytes: int) -> Sequence[str]:
    del memory_bytes  # the worker limits itself
    return (sys.executable, "-I", "-S", str(_HERE / "worker.py"))


def _node(memory_bytes: int) -> Sequence[str]:
    node = shutil.which("node")
    if node is None:
        raise MissingInterpreterError(
            "assertions in JavaScript need Node.js; install it, or write them in Python"
        )
    heap = max(64, memory_bytes // 2_000_000)
    # Code made from text is for assertions; the worker itself must not be talked into any.
    flags = (f"--max-old-space-size={heap}", "--disallow-code-generation-from-strings")
    return (node, *flags, str(_HERE / "javascript_worker.js"))


PYTHON = Language(
    name="python",
    command=_python,
    settings={
        "allowed": sorted(ALLOWED_DUNDER_ATTRIBUTES),
        "refused": sorted(INTERNAL_ATTRIBUTES),
        "refused_prefixes": INTERNAL_PREFIXES,
    },
    binds=lambda text: ":=" in text,
    crash="it crashed the interpreter",
)
JAVASCRIPT = Language(
    name="javascript",
    command=_node,
    settings={},
    binds=lambda text: False,
    crash="it crashed Node.js or needs too much memory",
    grace_seconds=1.0,
    watched=True,
)


class Worker:
    """One child process. Used by one thread at a time; ``kill`` may come from another."""

    def __init__(self, language: Language, deadline: float, memory: int) -> None:
        """Start it. Raises ``OSError`` and ``MissingInterpreterError``."""
        self.language = language
        self._memory = memory
        self.process = subprocess.Popen(
            list(language.command(memory)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            creationflags=NEW_GROUP_FLAGS,
            env={**os.environ, "NODE_OPTIONS": ""},
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._requests: IO[bytes] = self.process.stdin
        self._replies: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=_forward, args=(self.process.stdout, self._replies), daemon=True).start()
        self._send({"deadline_seconds": deadline, "memory_bytes": memory, **language.settings})

    def run(
        self, assertions: Sequence[str], context: Mapping[str, Any], replay: Sequence[str], deadline: float
    ) -> tuple[list[AssertionOutcome], AssertionOutcome | None]:
        """Return the outcomes until the end, or until the one that cost the worker (which comes second)."""
        self._send({"context": context, "assertions": list(assertions), "replay": list(replay)})
        finished: list[AssertionOutcome] = []
        # Until it is ready, the interpreter starts, reads the context and evaluates earlier assertions again.
        patience = _START_SECONDS + deadline * len(replay)
        for _ in ("ready", *assertions):
            try:
                line = self._reply(patience)
            except queue.Empty:
                why = f"it took longer than {deadline:g} seconds"
                return finished, AssertionOutcome(False, why, timed_out=True)
            except MemoryError:
                return finished, AssertionOutcome(False, "it needs more than the allowed memory")
            if not line.endswith(b"\n"):
                return finished, AssertionOutcome(False, self.language.crash)
            reply = json.loads(line)
            if "ready" not in reply:
                timed_out = reply.get("timed_out") is True
                finished.append(AssertionOutcome(reply["passed"], reply["error"], timed_out))
            patience = deadline + self.language.grace_seconds
        return finished, None

    def kill(self) -> None:
        """End the process with all it started."""
        kill_tree(self.process)
        with contextlib.suppress(OSError):
            self._requests.close()

    def _reply(self, patience: float) -> bytes:
        """Return the next line. Raises ``queue.Empty`` when it is late, ``MemoryError`` when too big."""
        if not self.language.watched:
            return self._replies.get(timeout=patience)
        end = time.monotonic() + patience
        while True:
            left = end - time.monotonic()
            try:
                return self._replies.get(timeout=max(0.0, min(left, _LOOK_SECONDS)))
            except queue.Empty:
                if left <= _LOOK_SECONDS:
                    raise
            with contextlib.suppress(psutil.Error):
                if psutil.Process(self.process.pid).memory_info().rss > self._memory:
                    raise MemoryError

    def _send(self, message: Mapping[str, Any]) -> None:
        # A worker that died has closed its pipe; that shows as an empty reply.
        with contextlib.suppress(OSError, ValueError):
            self._requests.write(json.dumps(message, default=str).encode() + b"\n")
            self._requests.flush()


def _forward(replies: IO[bytes], to: queue.SimpleQueue[bytes]) -> None:
    with contextlib.suppress(OSError, ValueError), replies:
        for line in replies:
            to.put(line)
    to.put(b"")
