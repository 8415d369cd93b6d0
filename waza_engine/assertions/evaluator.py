"""Evaluate assertions: warm worker processes, a deadline for each assertion, nothing left behind.

An assertion that hangs, exhausts memory or crashes the interpreter costs its worker, not the run: the worker
is killed with all it started, that assertion is an error, and the following ones go to a new worker.

A request to a worker is ``{"context", "assertions", "replay", "explain"?}``; each assertion is answered by a
line ``{"passed", "error", "timed_out"?, "unusable"?}``, with ``values`` and ``decided`` when it is to be
explained.

Architecture invariant: no evaluation sees what another one did to its lists and dicts.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

from waza_engine.counting import in_seconds
from waza_engine.processes.workers import WorkerLostError, WorkerPool, WorkerProgram, WorkersClosedError

MEMORY_BYTES = 1_000_000_000
_HERE = Path(__file__).parent
_LIMITED = _HERE.parent / "processes" / "limited.py"
_ISOLATED_PYTHON = (sys.executable, "-I", "-S", "-B")
_NODE_STARTS_WITHIN_SECONDS = 20.0


class MissingInterpreterError(Exception):
    """The interpreter of a language is not installed; the message is for the author of the suite."""


@dataclass(frozen=True, slots=True)
class AssertionOutcome:
    """The result of an assertion. ``error`` says why it is unknown: it raised, hung or crashed.

    ``observed`` are short parts of one that was not true, as they are written, with their values. One that is
    ``unusable`` cannot be evaluated whatever the answer is: it is not an expression, or uses an unknown name.
    """

    passed: bool
    error: str | None = None
    timed_out: bool = False
    observed: tuple[tuple[str, str], ...] = ()
    unusable: bool = False

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> AssertionOutcome:
        """Return the outcome from a worker's answer."""
        observed = tuple((str(part), str(value)) for part, value in answer.get("observed", ()))
        late, unusable = (answer.get(key) is True for key in ("timed_out", "unusable"))
        return cls(answer["passed"], answer["error"], late, observed, unusable)


@dataclass(frozen=True, slots=True)
class ExplainedAssertion:
    """The result of an assertion, and its parts: each as it is written, with its value in a few characters.

    ``decided`` is the part of a chain of ``and`` or ``or`` that was evaluated last, "" for others. A language
    that cannot be taken apart has no values.
    """

    outcome: AssertionOutcome
    values: tuple[tuple[str, str], ...] = ()
    decided: str = ""

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> ExplainedAssertion:
        """Return the explanation from a worker's answer."""
        values = tuple((str(text), str(value)) for text, value in answer.get("values", ()))
        return cls(AssertionOutcome.of(answer), values, str(answer.get("decided") or ""))


@dataclass(frozen=True, slots=True)
class Language:
    """How assertions of a language are evaluated.

    ``binds`` returns whether an assertion may bind a name that later ones see, so that it is evaluated again
    when its worker was lost; ``crash`` is the message for a worker that ends.
    """

    program: WorkerProgram
    binds: Callable[[str], bool]
    crash: str


def _python(memory_bytes: int) -> Sequence[str]:
    del memory_bytes  # the worker limits itself
    return (*_ISOLATED_PYTHON, str(_HERE / "worker.py"))


def _node(memory_bytes: int) -> Sequence[str]:
    found = shutil.which("node")
    node, permissions = _installed_node(found) if found is not None else ("", "")
    if not node:
        raise MissingInterpreterError(
            "assertions in JavaScript need Node.js; install it, or write them in Python"
        )
    heap = max(64, memory_bytes // 2_000_000)
    script = str((_HERE / "javascript_worker.js").resolve())
    # Assertions may create code from strings; the worker itself must not.
    flags = [f"--max-old-space-size={heap}", "--disallow-code-generation-from-strings"]
    if permissions:
        # Node.js denies files, processes, threads and add-ons to code that escapes from a context.
        flags += [permissions, f"--allow-fs-read={script}"]
    limited = () if sys.platform == "win32" else (*_ISOLATED_PYTHON, str(_LIMITED))
    return (*limited, node, *flags, script)


@functools.cache
def _installed_node(found: str) -> tuple[str, str]:
    """Return the path of Node.js, "" when it does not start, and its flag for permissions, "" if it has none.

    The one on the search path may be a script of a version manager, which needs the environment of the user.
    """
    known = (
        "['--permission', '--experimental-permission'].find(f => process.allowedNodeEnvironmentFlags.has(f))"
    )
    question = f"JSON.stringify([process.execPath, {known} ?? ''])"
    try:
        answer = subprocess.run(
            (found, "-p", question),
            capture_output=True,
            timeout=_NODE_STARTS_WITHIN_SECONDS,
            check=True,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "NODE_OPTIONS": ""},
        )
        path, permissions = json.loads(answer.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return "", ""
    return path, permissions


PYTHON = Language(
    WorkerProgram(name="python", command=_python, settings={}),
    binds=lambda text: ":=" in text,
    crash="it crashed the interpreter",
)
JAVASCRIPT = Language(
    WorkerProgram(
        name="javascript", command=_node, settings={}, grace_seconds=1.0, watched=True, limits_itself=False
    ),
    binds=lambda text: False,
    crash="it crashed Node.js or needs too much memory",
)


__all__ = ["DEADLINE_SECONDS", "MEMORY_BYTES", "AssertionEvaluator", "AssertionOutcome", "ExplainedAssertion"]

DEADLINE_SECONDS = 5.0
_LANGUAGES: Mapping[str, Language] = {"python": PYTHON, "javascript": JAVASCRIPT}


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
                    # Answers before the loss of the worker count.
                    outcomes.append(AssertionOutcome.of(answer))  # noqa: PERF401
        except WorkerLostError as lost:
            outcomes.append(self._outcome(lost, language))

    def _outcome(self, lost: WorkerLostError, language: Language) -> AssertionOutcome:
        if lost.why == "slow":
            why = f"it took longer than {in_seconds(self._pool.deadline_seconds)}"
            return AssertionOutcome(False, why, timed_out=True)
        if lost.why == "memory":
            return AssertionOutcome(False, "it needs more than the allowed memory")
        return AssertionOutcome(False, language.crash)
