"""Evaluating assertions: warm worker processes, a deadline for each assertion, nothing left behind.

An assertion that hangs, exhausts memory or crashes the interpreter costs its worker, not the run: the worker
is killed with all it started, that assertion is an error, and the following ones go to a new worker.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

from waza_engine.assertions.workers import (
    JAVASCRIPT,
    MEMORY_BYTES,
    PYTHON,
    TOLD_WITHIN_SECONDS,
    AssertionOutcome,
    ExplainedAssertion,
    Language,
)
from waza_engine.processes.workers import Worker, WorkerLostError, WorkerPool, WorkersClosedError

__all__ = ["DEADLINE_SECONDS", "MEMORY_BYTES", "AssertionEvaluator", "AssertionOutcome", "ExplainedAssertion"]

DEADLINE_SECONDS = 5.0
MOST_TOGETHER = 64
MOST_TOGETHER_CHARACTERS = 1_000_000
_LANGUAGES: Mapping[str, Language] = {"python": PYTHON, "javascript": JAVASCRIPT}


@dataclass(frozen=True, slots=True)
class _Together:
    """A request as JSON, and how many contexts are in it."""

    line: str
    contexts: int


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
        request = {"contexts": [dict(context)], "assertions": [last], "replay": replay, "explain": True}
        preparation = self._pool.deadline_seconds * len(replay)
        try:
            with self._pool.turn(), self._pool.borrowed(spoken.program) as worker:
                (answer,) = worker.ask(request, 1, preparation_seconds=preparation)
                return ExplainedAssertion.of(answer)
        except WorkerLostError as lost:
            return ExplainedAssertion(self._outcome(lost, spoken))
        except WorkersClosedError:
            raise RuntimeError("the assertion evaluator is closed") from None

    def evaluate_together(
        self,
        assertions: Sequence[str],
        contexts: Sequence[Mapping[str, Any]],
        language: Literal["python", "javascript"] = "python",
    ) -> list[list[AssertionOutcome]]:
        """Evaluate the same assertions in each context, as ``evaluate`` does, and raise what it raises.

        One request takes many contexts, as far as these are small. Where one costs the worker, the others
        are evaluated one by one, which tells whose fault it is.
        """
        found: list[list[AssertionOutcome]] = []
        if assertions and _LANGUAGES[language].together:
            try:
                with self._pool.turn(), self._pool.borrowed(_LANGUAGES[language].program) as worker:
                    for request in _requests(assertions, contexts):
                        found += self._answers(worker, request, len(assertions))
            except WorkersClosedError:
                raise RuntimeError("the assertion evaluator is closed") from None
            except WorkerLostError:
                pass
        return found + [self.evaluate(assertions, context, language) for context in contexts[len(found) :]]

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
            with self._pool.borrowed(language.program) as worker:
                for answer in worker.ask(request, len(waiting), preparation_seconds=preparation):
                    # What comes before the loss of the worker counts.
                    outcomes.append(AssertionOutcome.of(answer))  # noqa: PERF401
        except WorkerLostError as lost:
            outcomes.append(self._outcome(lost, language))

    def _answers(
        self, worker: Worker, request: _Together, assertions: int
    ) -> Iterator[list[AssertionOutcome]]:
        answers = worker.ask(
            request.line,
            assertions * request.contexts,
            deadline_seconds=self._pool.deadline_seconds + TOLD_WITHIN_SECONDS,
        )
        outcomes = map(AssertionOutcome.of, answers)
        for _ in range(request.contexts):
            found = list(itertools.islice(outcomes, assertions))
            if len(found) == assertions:
                yield found

    def _outcome(self, lost: WorkerLostError, language: Language) -> AssertionOutcome:
        if lost.why == "slow":
            why = f"it took longer than {self._pool.deadline_seconds:g} seconds"
            return AssertionOutcome(False, why, timed_out=True)
        if lost.why == "memory":
            return AssertionOutcome(False, "it needs more than the allowed memory")
        return AssertionOutcome(False, language.crash)


def _requests(assertions: Sequence[str], contexts: Sequence[Mapping[str, Any]]) -> Iterator[_Together]:
    """Yield requests that a worker reads at once, before it evaluates anything."""
    texts: list[str] = []
    characters = 0
    for context in contexts:
        text = json.dumps(context, default=str)
        if texts and (len(texts) == MOST_TOGETHER or characters + len(text) > MOST_TOGETHER_CHARACTERS):
            yield _together(assertions, texts)
            texts, characters = [], 0
        texts.append(text)
        characters += len(text)
    if texts:
        yield _together(assertions, texts)


def _together(assertions: Sequence[str], contexts: Sequence[str]) -> _Together:
    line = (
        f'{{"contexts": [{", ".join(contexts)}], "assertions": {json.dumps(list(assertions))}, "replay": []}}'
    )
    return _Together(line, len(contexts))
