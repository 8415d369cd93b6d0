"""The tasks of a run: one after the other or several at the same time, their trials in order."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Iterator, Sequence
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Any

from waza_engine.assertions.evaluator import AssertionEvaluator
from waza_engine.executors.base import Executor
from waza_engine.results.outcomes import TaskOutcome, TrialOutcome, Validation
from waza_engine.runs.bounded import CancelledRunError
from waza_engine.runs.cancellation import RunCancellation
from waza_engine.runs.events import EventKind, EventStream
from waza_engine.runs.hooks import HookError, run_hooks
from waza_engine.runs.selection import SelectedTask
from waza_engine.runs.suite import Suite
from waza_engine.runs.trial import TrialTask, TrialTools, run_trial
from waza_engine.scoring.composite import TrialStatus, composite
from waza_engine.scoring.tasks import TrialScore, task_statistics, task_status

MOST_WORKERS = 8
_CLEANING_SECONDS = 0.5
_SHOWN_CHARACTERS = 2000
_KINDS: dict[TrialStatus, EventKind] = {
    "passed": "passed",
    "failed": "failed",
    "error": "errored",
    "skipped": "skipped",
}


@dataclass(slots=True)
class TaskRunner:
    """Runs tasks and tells what happens. ``run`` is called once."""

    suite: Suite
    executor: Executor
    model: str
    trials: int
    assertions: AssertionEvaluator
    cancellation: RunCancellation
    stream: EventStream
    program_timeout_seconds: float = 30.0
    _completed: int = 0
    _total: int = 0
    _stopped: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, tasks: Sequence[SelectedTask], workers: int) -> Iterator[tuple[int, TaskOutcome]]:
        """Yield each task's position and outcome as it is finished; stops at once when the run is cancelled.

        ``workers`` of zero chooses: one a processor, at most 8, never more than there are tasks. With
        ``fail_fast`` nothing new starts after the first task that does not pass; the rest is skipped. Raises
        ``CancelledRunError``.
        """
        self._total = len(tasks) * self.trials
        waiting: queue.SimpleQueue[tuple[int, SelectedTask] | None] = queue.SimpleQueue()
        finished: queue.SimpleQueue[tuple[int, TaskOutcome] | None] = queue.SimpleQueue()
        for position, task in enumerate(tasks):
            self.stream.send("enqueued", task=task.source.id, message=task.source.name)
            waiting.put((position, task))
        count = max(1, min(workers if workers > 0 else os.cpu_count() or 1, len(tasks), _limit(workers)))
        withdraw = self.cancellation.on_request(lambda: finished.put(None))
        threads: list[threading.Thread] = []
        for _ in range(count):
            waiting.put(None)
            work = copy_context().run
            threads.append(threading.Thread(target=work, args=(self._work, waiting, finished), daemon=True))
            threads[-1].start()
        try:
            for _ in tasks:
                outcome = finished.get()
                if outcome is None:
                    raise CancelledRunError
                yield outcome
        finally:
            withdraw()
            # A cancelled trial still removes its workspace; the process may end right after this.
            deadline = time.monotonic() + _CLEANING_SECONDS
            for thread in threads:
                thread.join(max(0.0, deadline - time.monotonic()))

    def _work(
        self,
        waiting: queue.SimpleQueue[tuple[int, SelectedTask] | None],
        finished: queue.SimpleQueue[tuple[int, TaskOutcome] | None],
    ) -> None:
        while (item := waiting.get()) is not None:
            position, task = item
            try:
                outcome = self._run_task(task)
            except CancelledRunError:
                return
            except Exception as error:  # noqa: BLE001 - a defect of ours costs this task, not the run
                outcome = _broken(task, f"the task broke: {type(error).__name__}: {error}")
                self._tell(outcome, trials=0)
            if outcome.status in ("failed", "error") and self.suite.spec.config.fail_fast:
                self._stopped.set()
            finished.put((position, outcome))

    def _run_task(self, selected: SelectedTask) -> TaskOutcome:
        source = selected.source
        if self.cancellation.requested:
            raise CancelledRunError
        if self._stopped.is_set():
            outcome = TaskOutcome(source.id, source.name, "skipped", file=source.path.name, error="fail_fast")
        elif selected.trial is None:
            self.stream.send("started", task=source.id)
            outcome = _broken(selected, source.error)
        else:
            outcome = self._with_hooks(selected, selected.trial)
        self._tell(outcome, trials=0 if outcome.trials else self.trials)
        return outcome

    def _with_hooks(self, selected: SelectedTask, task: TrialTask) -> TaskOutcome:
        hooks, directory = self.suite.spec.hooks, self.suite.directory
        try:
            warnings = run_hooks(hooks.before_task, directory, self.cancellation)
        except HookError as error:
            source = selected.source
            return TaskOutcome(source.id, source.name, "failed", file=source.path.name, error=str(error))
        trials = [self._trial(selected.source.id, task, number) for number in range(1, self.trials + 1)]
        warnings += run_hooks(hooks.after_task, directory, self.cancellation, may_fail=True)
        for warning in warnings:
            self.stream.send("output", task=selected.source.id, message=f"warning: {warning}")
        return _outcome(selected, task, trials)

    def _trial(self, task_id: str, task: TrialTask, number: int) -> TrialOutcome:
        stream = self.stream

        def tell_verdict(verdict: Validation) -> None:
            stream.send(
                "graded",
                task=task_id,
                trial=number,
                grader=verdict.name,
                score=verdict.score,
                passed=verdict.passed,
                message=verdict.feedback,
                status=verdict.status,
            )

        stream.send("started", task=task_id, trial=number)
        tools = TrialTools(
            self.suite,
            self.executor,
            self.model,
            self.assertions,
            self.cancellation,
            self.program_timeout_seconds,
        )
        outcome = run_trial(
            task,
            number,
            tools,
            lambda text: stream.send("output", task=task_id, trial=number, message=text[:_SHOWN_CHARACTERS]),
            tell_verdict,
            lambda text: stream.send("output", task=task_id, trial=number, message=f"warning: {text}"),
        )
        kind = _kind(outcome.status, pending=bool(outcome.graded))
        score = composite(outcome.graded).score
        self._tell_end(1, kind, task=task_id, trial=number, score=score, message=outcome.error or None)
        return outcome

    def _tell(self, outcome: TaskOutcome, *, trials: int) -> None:
        """Tell the end of a task; ``trials`` counts those that were not told one by one."""
        score = outcome.statistics.avg_score if outcome.statistics else None
        kind = _kind(outcome.status, pending=any(trial.graded for trial in outcome.trials))
        self._tell_end(trials, kind, task=outcome.id, score=score, message=outcome.error or None)

    def _tell_end(self, trials: int, kind: EventKind, **values: Any) -> None:
        # Counted and told in one step: the count never runs backwards in the stream.
        with self._lock:
            self._completed += trials
            self.stream.send(kind, completed=self._completed, total=self._total, **values)


def _limit(workers: int) -> int:
    """Return the most workers: a number given counts as it is, the automatic choice is limited."""
    return MOST_WORKERS if workers <= 0 else workers


def _kind(status: TrialStatus, *, pending: bool) -> EventKind:
    """Return the event of a status: what was graded and is skipped all the same waits for a person."""
    return "pending" if status == "skipped" and pending else _KINDS[status]


def _outcome(selected: SelectedTask, task: TrialTask, trials: Sequence[TrialOutcome]) -> TaskOutcome:
    scores = [_score(trial) for trial in trials]
    return TaskOutcome(
        id=selected.source.id,
        name=selected.source.name,
        status=task_status([trial.status for trial in trials]),
        trials=trials,
        statistics=task_statistics(scores),
        golden=task.spec.golden,
        file=selected.source.path.name,
    )


def _score(trial: TrialOutcome) -> TrialScore:
    means = composite(trial.graded)
    return TrialScore(trial.status, means.score, means.weighted_score, trial.duration_ms)


def _broken(selected: SelectedTask, why: str) -> TaskOutcome:
    source = selected.source
    return TaskOutcome(source.id, source.name, "error", file=source.path.name, error=why)
