"""The tasks of a run: one after the other or several at the same time, their trials in order."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from typing import Any

from waza_engine.results.outcomes import TaskOutcome, TrialOutcome, Validation
from waza_engine.runs.attempts import InterruptedTrialError
from waza_engine.runs.bounded import CancelledRunError
from waza_engine.runs.budget import MeteredExecutor
from waza_engine.runs.caching import TaskCache
from waza_engine.runs.cancellation import RunCancellation
from waza_engine.runs.events import EventKind, EventStream
from waza_engine.runs.hooks import HookError, run_hooks
from waza_engine.runs.selection import SelectedTask
from waza_engine.runs.trial import TrialTask, TrialTools, run_trial
from waza_engine.scoring.composite import TrialStatus, composite
from waza_engine.scoring.tasks import task_statistics, task_status

MOST_WORKERS = 8
INTERRUPTED = "the run was interrupted"
_CLEANING_SECONDS = 0.5
_SHOWN_CHARACTERS = 2000
_KINDS: dict[TrialStatus, EventKind] = {
    "passed": "passed",
    "failed": "failed",
    "error": "errored",
    "skipped": "skipped",
}


class Progress:
    """How many trials of a run have ended, over all its passes; their ends are told through it."""

    def __init__(self, stream: EventStream, total: int) -> None:
        self.stream = stream
        self.total = total
        self._completed = 0
        self._lock = threading.Lock()

    def tell_end(self, trials: int, kind: EventKind, **values: Any) -> None:
        """Count and tell in one step: the count never runs backwards in the stream."""
        with self._lock:
            self._completed += trials
            self.stream.send(kind, completed=self._completed, total=self.total, **values)


@dataclass(slots=True)
class TaskRunner:
    """Runs tasks and tells what happens; with ``baseline``, its events say so. ``run`` is called once."""

    tools: TrialTools
    executor: MeteredExecutor
    trials: int
    cancellation: RunCancellation
    progress: Progress
    cache: TaskCache | None = None
    baseline: bool = False
    group: str = ""
    _stopped: threading.Event = field(default_factory=threading.Event)
    _trials: dict[int, list[TrialOutcome]] = field(default_factory=dict[int, list[TrialOutcome]])

    def run(self, tasks: Sequence[SelectedTask], workers: int) -> Iterator[tuple[int, TaskOutcome]]:
        """Yield each task's position and outcome as it is finished; stops at once when the run is cancelled.

        ``workers`` of zero chooses: one a processor, at most 8, never more than there are tasks. With
        ``fail_fast`` nothing new starts after the first task that does not pass; the rest is skipped. Raises
        ``CancelledRunError``.
        """
        waiting: queue.SimpleQueue[tuple[int, SelectedTask] | None] = queue.SimpleQueue()
        finished: queue.SimpleQueue[tuple[int, TaskOutcome] | None] = queue.SimpleQueue()
        for position, task in enumerate(tasks):
            self._send("enqueued", task=task.source.id, message=task.source.name)
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

    def unfinished(
        self, tasks: Sequence[SelectedTask], finished: Collection[int]
    ) -> Iterator[tuple[int, TaskOutcome]]:
        """Yield what is known of the tasks that a cancelled run has not finished."""
        for position, selected in enumerate(tasks):
            if position in finished:
                continue
            trials = list(self._trials.get(position, ()))
            if selected.trial is None or not trials:
                yield position, _unrun(selected, f"{INTERRUPTED}; no trial ran")
            else:
                yield position, self._outcome(selected, selected.trial, trials, INTERRUPTED)

    def _work(
        self,
        waiting: queue.SimpleQueue[tuple[int, SelectedTask] | None],
        finished: queue.SimpleQueue[tuple[int, TaskOutcome] | None],
    ) -> None:
        while (item := waiting.get()) is not None:
            position, task = item
            try:
                outcome = self._run_task(position, task)
            except CancelledRunError:
                return
            except Exception as error:  # noqa: BLE001 - a defect of ours costs this task, not the run
                ran = self._trials.get(position, ())
                why = f"the task broke: {type(error).__name__}: {error}"
                outcome = replace(_broken(task, why), trials=list(ran))
                self._tell(outcome, trials=self.trials - len(ran))
            if outcome.status in ("failed", "error") and self.tools.suite.spec.config.fail_fast:
                self._stopped.set()
            finished.put((position, replace(outcome, group=self.group)))

    def _run_task(self, position: int, selected: SelectedTask) -> TaskOutcome:
        if self.cancellation.requested:
            raise CancelledRunError
        told = 0
        if self._stopped.is_set():
            outcome = _unrun(selected, "fail_fast")
        elif selected.trial is None:
            self._send("started", task=selected.source.id)
            outcome = _broken(selected, selected.source.error)
        else:
            outcome, told = self._cached_or_run(position, selected, selected.trial)
        self._tell(outcome, trials=self.trials - told)
        return outcome

    def _cached_or_run(
        self, position: int, selected: SelectedTask, task: TrialTask
    ) -> tuple[TaskOutcome, int]:
        """Return the outcome and how many of its trials were told one by one."""
        cache = self.cache
        key = None if cache is None else cache.key(selected.source, task, self.tools, self.trials)
        if cache is not None and key is not None and (found := cache.get(key)) is not None:
            # What the task is called may have changed; what it asks has not.
            source = selected.source
            return replace(found, id=source.id, name=source.name, file=source.path.name), 0
        if why := self.executor.refuses():
            return _unrun(selected, f"{why}; no trial ran"), 0
        outcome, told = self._with_hooks(position, selected, task)
        if cache is not None and key is not None:
            cache.put(key, outcome)
        return outcome, told

    def _with_hooks(self, position: int, selected: SelectedTask, task: TrialTask) -> tuple[TaskOutcome, int]:
        hooks, directory = self.tools.suite.spec.hooks, self.tools.suite.directory
        try:
            warnings = run_hooks(hooks.before_task, directory, self.cancellation)
        except HookError as error:
            source = selected.source
            outcome = TaskOutcome(source.id, source.name, "failed", file=source.path.name, error=str(error))
            return outcome, 0
        trials = self._trials[position] = []
        why = ""
        while len(trials) < self.trials and not (why := self.executor.refuses()):
            try:
                trials.append(self._trial(selected.source.id, task, len(trials) + 1))
            except InterruptedTrialError as interrupted:
                trials.append(interrupted.outcome)
                raise
        warnings += run_hooks(hooks.after_task, directory, self.cancellation, may_fail=True)
        for warning in warnings:
            self._send("output", task=selected.source.id, message=f"warning: {warning}")
        return self._outcome(selected, task, trials, why), len(trials)

    def _trial(self, task_id: str, task: TrialTask, number: int) -> TrialOutcome:
        def tell_verdict(verdict: Validation) -> None:
            self._send(
                "graded",
                task=task_id,
                trial=number,
                grader=verdict.name,
                score=verdict.score,
                passed=verdict.passed,
                message=verdict.feedback,
                status=verdict.status,
            )

        self._send("started", task=task_id, trial=number)
        outcome = run_trial(
            task,
            number,
            self.tools,
            lambda text: self._send("output", task=task_id, trial=number, message=text[:_SHOWN_CHARACTERS]),
            tell_verdict,
            lambda text: self._send("output", task=task_id, trial=number, message=f"warning: {text}"),
        )
        kind = _kind(outcome.status, pending=bool(outcome.graded))
        score = composite(outcome.graded).score if outcome.graded or outcome.status != "skipped" else None
        self._tell_end(1, kind, task=task_id, trial=number, score=score, message=outcome.error or None)
        return outcome

    def _outcome(
        self, selected: SelectedTask, task: TrialTask, trials: Sequence[TrialOutcome], why: str
    ) -> TaskOutcome:
        """Return the task with what is finished; a trial that the limit cut stays when it used anything.

        ``why`` says what kept the others from running.
        """
        finished = [trial for trial in trials if not trial.stopped]
        kept = [trial for trial in trials if not trial.stopped or trial.output or trial.usage is not None]
        error = ""
        if len(finished) < self.trials:
            ran = f"{len(finished)} of {self.trials} trials ran" if finished else "no trial ran"
            error = f"{why or trials[-1].error}; {ran}"
        ungraded = not task.graded
        return TaskOutcome(
            id=selected.source.id,
            name=selected.source.name,
            status=task_status([trial.status for trial in finished]),
            trials=kept,
            statistics=None if ungraded else task_statistics([trial.score for trial in finished]),
            golden=task.spec.golden,
            file=selected.source.path.name,
            error=error,
        )

    def _tell(self, outcome: TaskOutcome, *, trials: int) -> None:
        """Tell the end of a task; ``trials`` counts those that were not told one by one."""
        score = outcome.statistics.avg_score if outcome.statistics else None
        kind = _kind(outcome.status, pending=any(trial.graded for trial in outcome.trials))
        cached = True if outcome.cached else None
        self._tell_end(
            trials, kind, task=outcome.id, score=score, message=outcome.error or None, cached=cached
        )

    def _tell_end(self, trials: int, kind: EventKind, **values: Any) -> None:
        self.progress.tell_end(trials, kind, baseline=self.baseline or None, **values)

    def _send(self, kind: EventKind, **values: Any) -> None:
        self.progress.stream.send(kind, baseline=self.baseline or None, **values)


def _limit(workers: int) -> int:
    """Return the most workers: a number given counts as it is, the automatic choice is limited."""
    return MOST_WORKERS if workers <= 0 else workers


def _kind(status: TrialStatus, *, pending: bool) -> EventKind:
    """Return the event of a status: what was graded and is skipped all the same waits for a person."""
    return "pending" if status == "skipped" and pending else _KINDS[status]


def _unrun(selected: SelectedTask, why: str) -> TaskOutcome:
    source = selected.source
    return TaskOutcome(source.id, source.name, "skipped", file=source.path.name, error=why)


def _broken(selected: SelectedTask, why: str) -> TaskOutcome:
    source = selected.source
    return TaskOutcome(source.id, source.name, "error", file=source.path.name, error=why)
