"""Evaluating assertions: warm worker processes, a deadline for each assertion, nothing left behind.

An assertion that hangs, exhausts memory or crashes the interpreter costs its worker, not the run: the worker
is killed with all it started, that assertion is an error, and the following ones go to a new worker.
"""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Self

from waza_engine.assertions.names import ALLOWED_DUNDER_ATTRIBUTES, INTERNAL_ATTRIBUTES, INTERNAL_PREFIXES
from waza_engine.graders.processes import NEW_GROUP_FLAGS, kill_tree

DEADLINE_SECONDS = 5.0
MEMORY_BYTES = 1_000_000_000
_START_SECONDS = 20.0
_WORKER = Path(__file__).with_name("worker.py")


@dataclass(frozen=True, slots=True)
class AssertionOutcome:
    """Whether an assertion was true. ``error`` says why that is unknown: it raised, hung or crashed."""

    passed: bool
    error: str | None = None
    timed_out: bool = False


class AssertionEvaluator:
    """A pool of workers, started when first needed. Thread-safe; ``close`` (or ``with``) ends every worker.

    ``deadline_seconds`` holds for one assertion. At most ``workers`` calls evaluate at once, others wait.
    """

    def __init__(
        self,
        *,
        deadline_seconds: float = DEADLINE_SECONDS,
        workers: int = 4,
        memory_bytes: int = MEMORY_BYTES,
    ) -> None:
        self._deadline = deadline_seconds
        self._memory = memory_bytes
        self._turns = threading.BoundedSemaphore(workers)
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        self._alive: set[_Worker] = set()
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def evaluate(self, assertions: Sequence[str], context: Mapping[str, Any]) -> list[AssertionOutcome]:
        """Evaluate in order, in one shared context.

        Raises ``RuntimeError`` when the evaluator is closed and ``OSError`` when no worker can be started.
        """
        if not assertions:
            return []
        with self._turns:
            return self._evaluate(list(assertions), dict(context))

    def close(self) -> None:
        """End every worker, also those that are evaluating; can be called twice."""
        with self._lock:
            self._closed = True
            workers = list(self._alive)
            self._alive.clear()
            self._idle.clear()
        for worker in workers:
            worker.kill()

    def process_ids(self) -> list[int]:
        """Return the ids of the living workers."""
        with self._lock:
            return [worker.process.pid for worker in self._alive]

    def _evaluate(self, assertions: list[str], context: dict[str, Any]) -> list[AssertionOutcome]:
        outcomes: list[AssertionOutcome] = []
        while len(outcomes) < len(assertions):
            worker = self._take()
            # A name bound by `:=` is part of the shared context; a new worker has to bind it again.
            earlier = zip(assertions, outcomes, strict=False)
            replay = [text for text, outcome in earlier if outcome.error is None and ":=" in text]
            finished, failure = worker.run(assertions[len(outcomes) :], context, replay, self._deadline)
            outcomes += finished
            if failure is None:
                self._give_back(worker)
                continue
            self._discard(worker)
            if self._closed:
                raise RuntimeError("the assertion evaluator was closed while it was evaluating")
            outcomes.append(failure)
        return outcomes

    def _take(self) -> _Worker:
        with self._lock:
            if self._closed:
                raise RuntimeError("the assertion evaluator is closed")
            while self._idle:
                worker = self._idle.pop()
                if worker.process.poll() is None:
                    return worker
                self._alive.discard(worker)
        worker = _Worker(self._deadline, self._memory)
        with self._lock:
            if not self._closed:
                self._alive.add(worker)
                return worker
        worker.kill()
        raise RuntimeError("the assertion evaluator is closed")

    def _give_back(self, worker: _Worker) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(worker)

    def _discard(self, worker: _Worker) -> None:
        worker.kill()
        with self._lock:
            self._alive.discard(worker)


class _Worker:
    """One child process. Used by one thread at a time; ``kill`` may come from another."""

    def __init__(self, deadline: float, memory: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            creationflags=NEW_GROUP_FLAGS,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._requests: IO[bytes] = self.process.stdin
        self._replies: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=_forward, args=(self.process.stdout, self._replies), daemon=True).start()
        settings = {
            "deadline_seconds": deadline,
            "memory_bytes": memory,
            "allowed": sorted(ALLOWED_DUNDER_ATTRIBUTES),
            "refused": sorted(INTERNAL_ATTRIBUTES),
            "refused_prefixes": INTERNAL_PREFIXES,
        }
        self._send(settings)

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
                line = self._replies.get(timeout=patience)
            except queue.Empty:
                return finished, AssertionOutcome(
                    False, f"it took longer than {deadline:g} seconds", timed_out=True
                )
            if not line.endswith(b"\n"):
                return finished, AssertionOutcome(False, "it crashed the interpreter")
            reply = json.loads(line)
            if "ready" not in reply:
                finished.append(AssertionOutcome(reply["passed"], reply["error"]))
            patience = deadline
        return finished, None

    def kill(self) -> None:
        kill_tree(self.process)
        with contextlib.suppress(OSError):
            self._requests.close()

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
