"""Evaluating assertions: warm worker processes, a deadline for each assertion, nothing left behind.

An assertion that hangs, exhausts memory or crashes the interpreter costs its worker, not the run: the worker
is killed with all it started, that assertion is an error, and the following ones go to a new worker.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

from waza_engine.assertions.workers import (
    JAVASCRIPT,
    MEMORY_BYTES,
    PYTHON,
    AssertionOutcome,
    ExplainedAssertion,
    Language,
)
from waza_engine.processes.workers import WorkerLostError, WorkerPool, WorkersClosedError

__all__ = ["DEADLINE_SECONDS", "MEMORY_BYTES", "AssertionEvaluator", "AssertionOutcome", "ExplainedAssertion"]

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
        self._pool = WorkerPool(deadline_seconds=deadline_seconds, workers=workers, memory_bytes=memory_bytes)

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
        """Evaluate the last of some assertions, and tell what its parts come to.

        The earlier ones count for the names that they bind. Raises what ``evaluate`` raises.
        """
        spoken, last = _LANGUAGES[language], assertions[-1]
        replay = [text for text in assertions[:-1] if spoken.binds(text)]
        request = {"context": dict(context), "assertions": [last], "replay": replay, "explain": True}
        preparation = self._pool.deadline_seconds * len(replay)
        try:
            with self._pool.turn(), self._pool.borrowed(spoken.program) as worker:
                (answer,) = worker.ask(request, 1, preparation_seconds=preparation)
                return ExplainedAssertion.of(answer)
        except WorkerLostError as lost:
            return ExplainedAssertion(self._outcome(lost, spoken))
        except WorkersClosedError:
            raise RuntimeError("the assertion evaluator is closed") from None

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
        request = {"context": context, "assertions": waiting, "replay": replay}
        preparation = self._pool.deadline_seconds * len(replay)
        try:
            with self._pool.borrowed(language.program) as worker:
                for answer in worker.ask(request, len(waiting), preparation_seconds=preparation):
                    # What comes before the loss of the worker counts.
                    outcomes.append(AssertionOutcome.of(answer))  # noqa: PERF401
        except WorkerLostError as lost:
            outcomes.append(self._outcome(lost, language))

    def _outcome(self, lost: WorkerLostError, language: Language) -> AssertionOutcome:
        if lost.why == "slow":
            why = f"it took longer than {self._pool.deadline_seconds:g} seconds"
            return AssertionOutcome(False, why, timed_out=True)
        if lost.why == "memory":
            return AssertionOutcome(False, "it needs more than the allowed memory")
        return AssertionOutcome(False, language.crash)
