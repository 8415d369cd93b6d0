"""Evaluate assertions: warm worker processes, a deadline for each assertion, nothing left behind.

An assertion that hangs, exhausts memory or crashes the interpreter costs its worker, not the run: the worker
is killed with all it started, that assertion is an error, and the following ones go to a new worker.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, Self
from weakref import WeakKeyDictionary

from waza_engine.assertions.kept_trials import KeptTrials, TogetherRequest, TrialNames
from waza_engine.assertions.workers import (
    JAVASCRIPT,
    MEMORY_BYTES,
    PYTHON,
    TOLD_WITHIN_SECONDS,
    AssertionOutcome,
    ExplainedAssertion,
    Language,
)
from waza_engine.counting import in_seconds
from waza_engine.processes.workers import Worker, WorkerLostError, WorkerPool, WorkersClosedError

__all__ = ["DEADLINE_SECONDS", "MEMORY_BYTES", "AssertionEvaluator", "AssertionOutcome", "ExplainedAssertion"]

DEADLINE_SECONDS = 5.0
_LANGUAGES: Mapping[str, Language] = {"python": PYTHON, "javascript": JAVASCRIPT}


class _LadenWorkerError(Exception):
    """The worker was lost, maybe because of its cached data: try again with another one."""


class AssertionEvaluator:
    """Workers of each language, started when first needed. Thread-safe; ``close`` (or ``with``) ends them.

    ``deadline_seconds`` applies to one assertion. At most ``workers`` calls evaluate at once, others wait.
    """

    def __init__(
        self,
        *,
        deadline_seconds: float = DEADLINE_SECONDS,
        workers: int = 4,
        memory_bytes: int = MEMORY_BYTES,
    ) -> None:
        self._pool = WorkerPool(deadline_seconds=deadline_seconds, workers=workers, memory_bytes=memory_bytes)
        self._lock = threading.Lock()
        self._kept: WeakKeyDictionary[Worker, KeptTrials] = WeakKeyDictionary()

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
        outcomes: list[AssertionOutcome] = []
        try:
            with self._pool.turn():
                while len(outcomes) < len(assertions):
                    self._evaluate(list(assertions), dict(context), _LANGUAGES[language], outcomes)
        except WorkersClosedError:
            raise RuntimeError("the assertion evaluator is closed") from None
        return outcomes

    def explain(
        self,
        assertions: Sequence[str],
        context: Mapping[str, Any],
        language: Literal["python", "javascript"] = "python",
    ) -> ExplainedAssertion:
        """Evaluate the last of some assertions, and return the values of its parts.

        The earlier ones count for the names that they bind. Raises what ``evaluate`` raises.
        """
        spoken, last = _LANGUAGES[language], assertions[-1]
        replay = [text for text in assertions[:-1] if spoken.binds(text)]
        request = {"contexts": [dict(context)], "assertions": [last], "replay": replay, "explain": True}
        preparation = self._pool.deadline_seconds * len(replay)
        while True:
            try:
                with self._pool.turn(), self._worker(spoken) as worker:
                    (answer,) = worker.ask(request, 1, preparation_seconds=preparation)
                    return ExplainedAssertion.of(answer)
            except _LadenWorkerError:
                continue
            except WorkerLostError as lost:
                return ExplainedAssertion(self._outcome(lost, spoken))
            except WorkersClosedError:
                raise RuntimeError("the assertion evaluator is closed") from None

    def evaluate_together(
        self,
        assertions: Sequence[str],
        trials: Sequence[TrialNames],
        language: Literal["python", "javascript"] = "python",
    ) -> list[list[AssertionOutcome]]:
        """Evaluate the same assertions for each trial, as ``evaluate`` does, and raise what it raises.

        One request takes many trials, as far as these are small; those that the worker has cached are not
        sent again. If one costs the worker, the others are evaluated one by one, which shows whose fault it
        is.
        """
        found: list[list[AssertionOutcome]] = []
        if assertions and _LANGUAGES[language].together:
            try:
                with self._pool.turn(), self._pool.borrowed(_LANGUAGES[language].program) as worker:
                    for request in self._kept_by(worker).requests(assertions, trials):
                        found += self._answers(worker, request, len(assertions))
            except WorkersClosedError:
                raise RuntimeError("the assertion evaluator is closed") from None
            except WorkerLostError:
                pass
        return found + [self.evaluate(assertions, trial.make(), language) for trial in trials[len(found) :]]

    def close(self) -> None:
        """End every worker, also those that are evaluating; can be called twice."""
        self._pool.close()

    def process_ids(self) -> list[int]:
        """Return the ids of the living workers."""
        return self._pool.process_ids()

    def _evaluate(
        self,
        assertions: list[str],
        context: dict[str, Any],
        language: Language,
        outcomes: list[AssertionOutcome],
    ) -> None:
        """Add outcomes until the end, or until the one that costs the worker."""
        # A name bound by an assertion is part of the shared context; a new worker has to bind it again.
        earlier = zip(assertions, outcomes, strict=False)
        replay = [text for text, outcome in earlier if outcome.error is None and language.binds(text)]
        waiting = assertions[len(outcomes) :]
        request = {"contexts": [context], "assertions": waiting, "replay": replay}
        preparation = self._pool.deadline_seconds * len(replay)
        try:
            with self._worker(language) as worker:
                for answer in worker.ask(request, len(waiting), preparation_seconds=preparation):
                    # Answers before the loss of the worker count.
                    outcomes.append(AssertionOutcome.of(answer))  # noqa: PERF401
        except _LadenWorkerError:
            return
        except WorkerLostError as lost:
            outcomes.append(self._outcome(lost, language))

    @contextmanager
    def _worker(self, language: Language) -> Generator[Worker]:
        """Yield a worker without cached data. Raises ``_LadenWorkerError`` if cached data may be to blame."""
        with self._pool.borrowed(language.program) as worker:
            try:
                yield worker
            except WorkerLostError as lost:
                with self._lock:
                    laden = worker in self._kept
                if laden and lost.why != "slow":
                    raise _LadenWorkerError from None
                raise

    def _kept_by(self, worker: Worker) -> KeptTrials:
        with self._lock:
            return self._kept.setdefault(worker, KeptTrials())

    def _answers(
        self, worker: Worker, request: TogetherRequest, assertions: int
    ) -> Iterator[list[AssertionOutcome]]:
        answers = worker.ask(
            request.line,
            assertions * request.trials,
            deadline_seconds=self._pool.deadline_seconds + TOLD_WITHIN_SECONDS,
        )
        outcomes = map(AssertionOutcome.of, answers)
        for _ in range(request.trials):
            found = list(itertools.islice(outcomes, assertions))
            if len(found) == assertions:
                yield found

    def _outcome(self, lost: WorkerLostError, language: Language) -> AssertionOutcome:
        if lost.why == "slow":
            why = f"it took longer than {in_seconds(self._pool.deadline_seconds)}"
            return AssertionOutcome(False, why, timed_out=True)
        if lost.why == "memory":
            return AssertionOutcome(False, "it needs more than the allowed memory")
        return AssertionOutcome(False, language.crash)
