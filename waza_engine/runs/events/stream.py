"""The events of an active run: one stream of numbered events that always ends with ``ended``."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from waza_engine.counting import counted
from waza_engine.masking import MaskedStream
from waza_engine.results.json_values import nonempty
from waza_engine.results.record import Validation

EventKind = Literal[
    "run_started",
    "enqueued",
    "started",
    "asking",
    "grading",
    "output",
    "graded",
    "passed",
    "failed",
    "errored",
    "pending",
    "skipped",
    "tried",
    "ended",
]
_CLOSING = ("passed", "failed", "errored", "pending", "skipped")


@dataclass(frozen=True, slots=True)
class RunEvent:
    """One event; fields that do not apply are None.

    ``graded`` has a grader. ``passed``, ``failed``, ``errored``, ``pending`` and ``skipped`` close a trial
    (with ``trial``, from 1) or the whole task (without). ``output`` carries an answer, a tool call that
    begins or, without a task, a warning about the suite. ``started`` with a trigger ``prompt``, and no task,
    reports that it is sent, ``tried`` its result. ``asking`` and ``grading`` are the phases of a trial: an
    attempt sends its prompt, or its answer is graded. ``completed`` and ``total`` count trials. ``status`` of
    a ``graded`` event is ``graded``, ``pending`` or ``error``, of ``tried`` ``passed``, ``failed`` or
    ``errored``, of ``ended`` that of the run. Events of the run without skills have ``baseline``; a task that
    was taken from the cache is ``cached``.

    ``failures`` of a ``graded`` event are the failed checks: the ``path`` of each in the grader's ``config``
    and its ``message``. ``duration_ms`` is the wall clock of a grader, trial or task in milliseconds,
    ``cost_usd`` what the run has spent so far in US dollars, if known. ``ended`` has the ``conclusion`` of
    the run: its verdict, exit code, counts and reasons; the event that closes a task has that of the task.
    """

    run_id: str
    sequence: int
    kind: EventKind
    task: str | None = None
    trial: int | None = None
    grader: str | None = None
    score: float | None = None
    passed: bool | None = None
    message: str | None = None
    completed: int | None = None
    total: int | None = None
    results_file: str | None = None
    status: str | None = None
    baseline: bool | None = None
    cached: bool | None = None
    conclusion: Mapping[str, Any] | None = None
    failures: Sequence[Mapping[str, Any]] | None = None
    duration_ms: int | None = None
    cost_usd: float | None = None
    prompt: str | None = None
    should_trigger: bool | None = None

    def document(self) -> dict[str, Any]:
        """Return the event as JSON, without fields that do not apply."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None}


class EventStream:
    """Numbers events and delivers them one at a time; nothing comes after ``ended``.

    A listener that raises gets no more events: ``failure`` holds its error and ``on_failure`` is called.
    """

    def __init__(
        self, run_id: str, listener: Callable[[RunEvent], None], on_failure: Callable[[], None]
    ) -> None:
        self.run_id = run_id
        self.failure: Exception | None = None
        self._listener = listener
        self._on_failure = on_failure
        self._lock = threading.Lock()
        self._sequence = 0
        self._ended = False
        self._outputs: dict[tuple[Any, ...], MaskedStream] = {}

    def send(self, kind: EventKind, **values: Any) -> None:
        """Send an event; called from any thread, never raises. After ``ended`` it does nothing."""
        with self._lock:
            if self._ended:
                return
            self._ended = kind == "ended"
            self._sequence += 1
            key = values.get("task"), values.get("trial"), values.get("baseline")
            if kind == "output":
                # Listeners write message by message: a secret that begins in one must be masked in the next.
                values["message"] = self._outputs.setdefault(key, MaskedStream()).masked(values["message"])
            elif kind in _CLOSING:
                self._outputs.pop(key, None)
            try:
                self._listener(RunEvent(self.run_id, self._sequence, kind, **values))
            except Exception as error:  # noqa: BLE001 - kept for the caller of the run
                self._ended = True
                self.failure = error
        if self.failure is not None:
            self._on_failure()


class Progress:
    """Counts the finished trials of a run over all its passes, and reports their ends."""

    def __init__(self, stream: EventStream, total: int) -> None:
        self.stream = stream
        self.total = total
        self._completed = 0
        self._lock = threading.Lock()

    def report_end(self, trials: int, kind: EventKind, **values: Any) -> None:
        """Count and report in one step: the count never runs backwards in the stream."""
        with self._lock:
            self._completed += trials
            self.stream.send(kind, completed=self._completed, total=self.total, **values)


_SHOWN_CHARACTERS = 2000
_LONGEST_NOTE = 40
_MOST_FAILURES = 20


def failures_of(verdict: Validation) -> list[dict[str, Any]]:
    """Return the first failed checks: the ``path`` to the rule of each, and its ``message``.

    A check that compares two strings has them as ``expected`` and ``actual``.
    """
    failed = [check for check in verdict.checks if not check.passed][:_MOST_FAILURES]
    return [
        {
            "path": list(check.path),
            "message": excerpt(check.message),
            **nonempty(expected=check.expected, actual=check.actual),
        }
        for check in failed
    ]


def excerpt(text: str) -> str:
    """Return the beginning of a long string and how much is left out: answers may have megabytes."""
    left_out = len(text) - _SHOWN_CHARACTERS
    # Text that was cut before stays as it is, and a note is never longer than what it replaces.
    if left_out <= _LONGEST_NOTE:
        return text
    return f"{text[:_SHOWN_CHARACTERS]}… ({counted(left_out, 'more character')})"
