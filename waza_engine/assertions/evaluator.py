"""Evaluating assertions: warm worker processes, a deadline for each assertion, nothing left behind.

An assertion that hangs, exhausts memory or crashes the interpreter costs its worker, not the run: the worker
is killed with all it started, that assertion is an error, and the following ones go to a new worker.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

from waza_engine.assertions.workers import (
    JAVASCRIPT,
    MEMORY_BYTES,
    PYTHON,
    AssertionOutcome,
    Language,
    Worker,
)

__all__ = ["DEADLINE_SECONDS", "MEMORY_BYTES", "AssertionEvaluator", "AssertionOutcome"]

DEADLINE_SECONDS = 5.0
_LANGUAGES: Mapping[str, Language] = {"python": PYTHON, "javascript": JAVASCRIPT}


class AssertionEvaluator:
    """Workers of each language, started when first needed. Thread-safe; ``close`` (or ``with``) ends them.

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
        self._idle: dict[str, list[Worker]] = {name: [] for name in _LANGUAGES}
        self._alive: set[Worker] = set()
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def evaluate(
        self,
        assertions: Sequence[str],
        context: Mapping[str, Any],
        language: Literal["python", "javascript"] = "python",
    ) -> list[AssertionOutcome]:
        """Evaluate in order, in one shared context that nothing later can see.

        Raises ``RuntimeError`` when the evaluator is closed, ``OSError`` when no worker can be started, and
        ``MissingInterpreterError`` when the language's interpreter is not installed.
        """
        if not assertions:
            return []
        with self._turns:
            return self._evaluate(list(assertions), dict(context), _LANGUAGES[language])

    def close(self) -> None:
        """End every worker, also those that are evaluating; can be called twice."""
        with self._lock:
            self._closed = True
            workers = list(self._alive)
            self._alive.clear()
            for idle in self._idle.values():
                idle.clear()
        for worker in workers:
            worker.kill()

    def process_ids(self) -> list[int]:
        """Return the ids of the living workers."""
        with self._lock:
            return [worker.process.pid for worker in self._alive]

    def _evaluate(
        self, assertions: list[str], context: dict[str, Any], language: Language
    ) -> list[AssertionOutcome]:
        outcomes: list[AssertionOutcome] = []
        while len(outcomes) < len(assertions):
            worker = self._take(language)
            # A name bound by an assertion is part of the shared context; a new worker has to bind it again.
            earlier = zip(assertions, outcomes, strict=False)
            replay = [text for text, outcome in earlier if outcome.error is None and language.binds(text)]
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

    def _take(self, language: Language) -> Worker:
        with self._lock:
            if self._closed:
                raise RuntimeError("the assertion evaluator is closed")
            idle = self._idle[language.name]
            while idle:
                worker = idle.pop()
                if worker.process.poll() is None:
                    return worker
                self._alive.discard(worker)
        worker = Worker(language, self._deadline, self._memory)
        with self._lock:
            if not self._closed:
                self._alive.add(worker)
                return worker
        worker.kill()
        raise RuntimeError("the assertion evaluator is closed")

    def _give_back(self, worker: Worker) -> None:
        with self._lock:
            if not self._closed:
                self._idle[worker.language.name].append(worker)

    def _discard(self, worker: Worker) -> None:
        worker.kill()
        with self._lock:
            self._alive.discard(worker)
