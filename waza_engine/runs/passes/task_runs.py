"""Run the tasks of a pass: they begin in order, trials start as workers are free, each task ends once.

One thread decides; slow work runs in other threads and reports back to it.
"""

from __future__ import annotations

import queue
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from waza_engine.counting import counted
from waza_engine.results.record import TaskOutcome, TrialOutcome, verdicts_of
from waza_engine.results.task_conclusion import (
    TRIAL_VERDICTS,
    TaskConclusion,
    conclude_task,
    status_by_verdicts,
)
from waza_engine.runs.events.stream import EventKind, excerpt, failures_of
from waza_engine.runs.limits.budget import NOTHING_RESERVED, Reservation
from waza_engine.runs.limits.cancellation import CancelledRunError, start_call
from waza_engine.runs.loading.suite_on_disk import SuiteTask
from waza_engine.runs.passes.caching import TaskCache
from waza_engine.runs.settings.table import Budget
from waza_engine.runs.trials.attempts import InterruptedTrialError
from waza_engine.runs.trials.backend import BackendError, LostTrialError, TrialBackend
from waza_engine.runs.trials.context import RunContext, TrialRequest
from waza_engine.runs.trials.hooks import HookError
from waza_engine.runs.trials.selection import SelectedTask
from waza_engine.runs.trials.trial import Phase, TrialTask, spending_of
from waza_engine.scoring.task_scores import TrialStatus, composite, task_statistics, task_status

ENDED_BEFORE = "the run ended before"
_RUNAWAY = 4
"""A trial or trigger prompt on a cluster ends when it spends this many times its price."""
STOPPED_EARLY = "`fail_fast`: a task before it did not pass"
FoundT = TypeVar("FoundT")


@dataclass(slots=True)
class _ActiveTask:
    """An active task. ``why`` is the reason against further trials, ``broken`` a defect of the engine.

    ``waiting`` are the numbers of the trials to begin, ``running`` those that are active, and ``asked`` those
    whose agent was asked. ``cut`` holds active trials as they would be if they were cut off now.
    """

    position: int
    selected: SelectedTask
    task: TrialTask
    trials: list[TrialOutcome] = field(default_factory=list[TrialOutcome])
    ready: bool = False
    cache_key: str | None = None
    warnings: list[str] = field(default_factory=list[str])
    waiting: deque[int] = field(default_factory=deque[int])
    running: set[int] = field(default_factory=set[int])
    asked: set[int] = field(default_factory=set[int])
    cut: dict[int, TrialOutcome] = field(default_factory=dict[int, TrialOutcome])
    why: str = ""
    broken: str = ""


class TaskRunner:
    """Runs the tasks of a pass and reports events. Call ``run`` once, then ``unfinished`` if it raised."""

    def __init__(
        self,
        tasks: Sequence[SelectedTask],
        context: RunContext,
        backend: TrialBackend,
        cache: TaskCache | None = None,
        on_trial: Callable[[str, TrialOutcome], None] = lambda task_id, trial: None,
        on_asked: Callable[[str, int], None] = lambda task_id, trial: None,
        earlier: Mapping[str, Sequence[TrialOutcome]] | None = None,
    ) -> None:
        """``on_trial`` is called with each finished trial after which its task goes on.

        It is also called, from any thread, with an active trial as it would be if it were cut off now.
        ``on_asked`` is called, from any thread, when an agent that costs is asked in a trial. ``earlier`` are
        the trials of an interrupted run by task id, which are not run again.
        """
        config = context.suite.spec.config
        self._tasks = tasks
        self._context = context
        self._backend = backend
        self._cache = cache
        self._on_trial = on_trial
        self._on_asked = on_asked
        self._earlier = earlier or {}
        self._costs = context.executor.costs or context.judges.costs
        hooks = context.suite.spec.hooks
        self._has_hooks = bool(hooks.before_task or hooks.after_task)
        self._fail_fast = config.fail_fast
        self._group = config.model if config.group_by == "model" else ""
        self._busy = 0
        self._failure: BackendError | None = None
        self._reserved: set[Reservation] = set()
        self._stopped = False
        self._waiting = deque(enumerate(tasks))
        self._active_tasks: list[_ActiveTask] = []
        self._by_position: dict[int, _ActiveTask] = {}
        self._finished: deque[tuple[int, TaskOutcome]] = deque()
        self._reports: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()

    def run(self) -> Iterator[tuple[int, TaskOutcome]]:
        """Yield each task's position and outcome as it is finished; stop immediately when cancelled.

        The trials of the first task are started first; workers that are free then begin the next one. With
        ``fail_fast`` no task begins after the first that does not pass; the rest is skipped. Raises
        ``CancelledRunError`` and ``BackendError``.
        """
        for task in self._tasks:
            self._send("enqueued", task=task.source.id, message=task.source.name)
        withdraw = self._context.cancellation.on_request(lambda: self._reports.put(None))
        # Room may come from the backend, or from another run that shares the limits.
        withdraw_room = self._context.executor.meter.on_settled(self._wake)
        self._backend.on_room(self._wake)
        try:
            for _ in self._tasks:
                while not self._finished:
                    self._start_work()
                    if not self._finished:
                        self._next_report()
                if not self._costs:
                    # Work goes on while the caller stores what is finished; what is paid for is stored first.
                    self._start_work()
                position, outcome = self._finished.popleft()
                yield position, outcome
                # Free the transcripts of its trials.
                self._by_position.pop(position, None)
        finally:
            withdraw()
            withdraw_room()
            self._clean_up()

    def unfinished(self, finished: Collection[int]) -> Iterator[tuple[int, TaskOutcome]]:
        """Yield partial outcomes of the tasks that a cancelled or ended run has not finished."""
        cancellation = self._context.cancellation
        why = cancellation.words if cancellation.requested else ENDED_BEFORE
        for position, selected in enumerate(self._tasks):
            if position in finished:
                continue
            active = self._by_position.get(position) or self._with_earlier(position, selected)
            if active is not None:
                active.trials += _cut_off(active)
                active.trials.sort(key=lambda trial: trial.number)
            if active is None or not active.trials:
                # An active task may have asked the agent.
                none = "no trial ran" if active is None else "no trial was finished"
                yield position, unrun_task(selected, f"{why}; {none}")
            else:
                outcome = self._outcome(active, why)
                concluded = self._concluded(outcome)
                if concluded.ended_trials:
                    self._report_task(outcome, concluded, 0)
                yield position, outcome

    def _next_report(self) -> None:
        report = self._reports.get()
        if report is None:
            raise CancelledRunError
        report()
        if self._failure is not None:
            raise self._failure

    def _clean_up(self) -> None:
        """Wait a moment for the outcomes of active trials."""
        deadline = time.monotonic() + self._backend.grace_seconds
        while self._busy:
            try:
                report = self._reports.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                break
            if report is not None:
                report()
        for reservation in self._reserved:
            reservation.settle()

    def _wake(self) -> None:
        self._reports.put(lambda: None)

    def _start_work(self) -> None:
        """Start trials and tasks until all workers are busy."""
        while self._busy < self._backend.workers and not self._context.cancellation.requested:
            active = next((active for active in tuple(self._active_tasks) if self._has_more(active)), None)
            if active is not None:
                reservation = self._reservation(active)
                if reservation is not None:
                    self._start_trial(active, reservation)
                elif not self._context.executor.reason:
                    return
            elif self._waiting:
                self._begin(*self._waiting.popleft())
            else:
                return

    def _has_more(self, active: _ActiveTask) -> bool:
        if not active.ready or not active.waiting or active.why or active.broken:
            return False
        active.why = self._context.executor.refuses()
        if active.why:
            self._end_when_done(active)
        return not active.why

    def _begin(self, position: int, selected: SelectedTask) -> None:
        if self._stopped:
            active = self._with_earlier(position, selected)
            unrun = unrun_task(selected, STOPPED_EARLY)
            self._finish(position, unrun if active is None else self._outcome(active, STOPPED_EARLY))
        elif selected.trial is None:
            self._send("started", task=selected.source.id)
            self._finish(position, _errored(selected, selected.source.error))
        else:
            active = self._with_earlier(position, selected) or _ActiveTask(position, selected, selected.trial)
            self._by_position[position] = active
            done = {trial.number for trial in active.trials}
            active.waiting.extend(sorted(set(range(1, self._context.trials + 1)) - done))
            self._active_tasks.append(active)
            for trial in active.trials:
                self._report_trial(selected.source.id, trial)
            if not active.waiting:
                self._finish(position, self._outcome(active, ""))
                return
            if self._cache is None and not self._has_hooks:
                self._begin_trials(active, self._outcome_without_trials(active))
            else:
                self._in_thread(
                    partial(self._outcome_without_trials, active), partial(self._begin_trials, active)
                )

    def _outcome_without_trials(self, active: _ActiveTask) -> TaskOutcome | None:
        """Return the outcome of a task that needs no trial: it is cached, rejected, or its hook failed."""
        context, source = self._context, active.selected.source
        if self._cache is not None:
            active.cache_key = self._cache.key(source, active.task, context)
            # A resumed run keeps its own trials, and the cache must not replace those that it retries.
            usable = active.cache_key is not None and not context.settings.resume
            if usable and (found := self._cache.get(active.cache_key or "")) is not None:
                # The task's name may have changed; its prompt has not.
                return replace(found, id=source.id, name=source.name, file=source.path.name)
        if why := context.executor.refuses():
            if active.trials:
                # Those of an interrupted run were paid for.
                return self._outcome(active, why)
            return unrun_task(active.selected, f"{why}; no trial ran")
        try:
            if self._has_hooks:
                active.warnings += self._backend.run_hooks(self._request(source, 0), "before_task")
        except HookError as error:
            status = "error" if active.trials else "failed"
            return TaskOutcome(
                source.id, source.name, status, tuple(active.trials), file=source.path.name, error=str(error)
            )
        return None

    def _begin_trials(self, active: _ActiveTask, found: TaskOutcome | Exception | None) -> None:
        if isinstance(found, Exception):
            active.broken = _defect(found)
            self._end_when_done(active)
        elif found is not None:
            self._finish(active.position, found)
        else:
            active.ready = True

    def _reservation(self, active: _ActiveTask) -> Reservation | None:
        """Reserve the price of a trial; return None when it does not fit now, or never."""
        agent = self._context.executor
        if not self._costs:
            return NOTHING_RESERVED
        found = agent.meter.reserve(active.selected.source.id)
        # A free agent still answers at the limit; its judges are refused.
        return NOTHING_RESERVED if found is None and agent.reason and not agent.costs else found

    def _start_trial(self, active: _ActiveTask, reservation: Reservation) -> None:
        number = active.waiting.popleft()
        active.running.add(number)
        context, source = self._context, active.selected.source
        task_id = source.id
        request = replace(
            self._request(source, number),
            baseline_output=context.baseline_output(task_id, number),
            budget=budget_for(reservation, context.settings.budget),
        )
        self._reserved.add(reservation)

        def keep(cut: TrialOutcome) -> None:
            active.cut[number] = cut
            self._on_trial(task_id, cut)

        def done(found: TrialOutcome | Exception) -> None:
            if isinstance(found, TrialOutcome) and not found.stopped:
                context.executor.meter.prices.add(task_id, spending_of(found, context))
            reservation.settle(lost=isinstance(found, LostTrialError))
            self._reports.put(lambda: self._trial_ended(active, number, found, reservation))

        self._send("started", task=task_id, trial=number)
        self._busy += 1
        self._backend.start(
            request,
            lambda text, phase=None: self._report_progress(active, number, text, phase),
            keep,
            done,
        )

    def _request(self, source: SuiteTask, number: int) -> TrialRequest:
        context = self._context
        return TrialRequest(
            settings=context.settings,
            task=source.id,
            file=context.suite.file_of(source),
            place=source.place,
            digest=context.suite.digest_of(source),
            trial=number,
            baseline=context.baseline,
        )

    def _trial_ended(
        self, active: _ActiveTask, number: int, found: TrialOutcome | Exception, reservation: Reservation
    ) -> None:
        self._busy -= 1
        self._reserved.discard(reservation)
        if isinstance(found, BackendError):
            self._failure = self._failure or found
        elif isinstance(found, InterruptedTrialError):
            active.trials.append(found.outcome)
            active.running.remove(number)
        elif not (isinstance(found, CancelledRunError) and self._context.cancellation.requested):
            active.running.remove(number)
            # A defect of ours costs this trial, not the further ones.
            ended = found if isinstance(found, TrialOutcome) else _errored_trial(active, number, found)
            active.cut.pop(number, None)
            active.trials.append(ended)
            self._report_trial(active.selected.source.id, ended)
            if len(active.trials) < self._context.trials:
                self._on_trial(active.selected.source.id, ended)
        # Trials end in any order.
        active.trials.sort(key=lambda trial: trial.number)
        self._end_when_done(active)

    def _end_when_done(self, active: _ActiveTask) -> None:
        """End a task whose last trial has ended."""
        complete = not active.waiting or active.why or active.broken
        if active.running or not complete or self._context.cancellation.requested:
            return
        if active.broken:
            self._finish_errored(active, active.broken)
            return
        try:
            outcome = self._outcome(active, active.why)
        except Exception as error:  # noqa: BLE001 - a defect of ours costs this task, not the run
            self._finish_errored(active, _defect(error))
            return
        if self._cache is None and not self._has_hooks:
            self._finish_stored(active, outcome, None)
        else:
            self._in_thread(
                partial(self._after_task, active, outcome), partial(self._finish_stored, active, outcome)
            )

    def _after_task(self, active: _ActiveTask, outcome: TaskOutcome) -> None:
        if self._has_hooks:
            request = self._request(active.selected.source, 0)
            active.warnings += self._backend.run_hooks(request, "after_task")
        if self._cache is not None and active.cache_key is not None:
            self._cache.put(active.cache_key, outcome)

    def _finish_stored(self, active: _ActiveTask, outcome: TaskOutcome, found: Exception | None) -> None:
        for warning in active.warnings:
            self._send("output", task=outcome.id, message=f"warning: {warning}")
        if found is None:
            self._finish(active.position, outcome)
        else:
            self._finish_errored(active, _defect(found))

    def _finish_errored(self, active: _ActiveTask, why: str) -> None:
        outcome = replace(_errored(active.selected, why), trials=list(active.trials))
        self._finish(active.position, outcome)

    def _finish(self, position: int, outcome: TaskOutcome) -> None:
        active = self._by_position.get(position)
        reported = len(active.trials) if active is not None else 0
        if active is not None:
            self._active_tasks.remove(active)
        self._report_task(outcome, self._concluded(outcome), self._context.trials - reported)
        if outcome.status in ("failed", "error") and self._fail_fast:
            self._stopped = True
        self._finished.append((position, replace(outcome, group=self._group)))

    def _with_earlier(self, position: int, selected: SelectedTask) -> _ActiveTask | None:
        """Return a task with its trials of the interrupted run, None without any."""
        trials = self._earlier.get(selected.source.id)
        if not trials or selected.trial is None:
            return None
        return _ActiveTask(position, selected, selected.trial, trials=list(trials))

    def _concluded(self, outcome: TaskOutcome) -> TaskConclusion:
        return conclude_task(outcome, self._context.suite.spec.config.executor)

    def _report_task(self, outcome: TaskOutcome, concluded: TaskConclusion, unreported: int) -> None:
        """Report a task's outcome; ``unreported`` is how many trials will not run."""
        score = outcome.statistics.avg_weighted_score if outcome.statistics else None
        # A failed hook is written as a failure, as upstream does; no answer was graded.
        broke = concluded.verdict == "errored"
        kind = _kind(outcome.status, pending=any(any(verdicts_of(trial)) for trial in outcome.trials))
        kind = "errored" if broke else "skipped" if concluded.has_no_grader else kind
        kind = "failed" if concluded.verdict == "failed" else kind
        why = concluded.reason if concluded.has_no_grader else concluded.hidden_reason
        self._report_end(
            unreported,
            kind,
            task=outcome.id,
            score=score if concluded.scored else None,
            message=outcome.error or why or None,
            cached=True if outcome.cached else None,
            duration_ms=concluded.duration_ms,
            conclusion=concluded.document(),
        )

    def _in_thread(self, call: Callable[[], FoundT], then: Callable[[FoundT | Exception], None]) -> None:
        """Make a call of the run in a worker thread, and continue here with its result."""

        def go_on(found: FoundT | Exception) -> None:
            self._busy -= 1
            if isinstance(found, BackendError):
                self._failure = self._failure or found
            elif not (isinstance(found, CancelledRunError) and self._context.cancellation.requested):
                then(found)

        self._busy += 1
        start_call(call, lambda found: self._reports.put(lambda: go_on(found)))

    def _outcome(self, active: _ActiveTask, why: str) -> TaskOutcome:
        """Return the task with its finished trials; a trial that the limit cut stays if it used anything.

        ``why`` is the reason why the others did not run.
        """
        selected, trials, wanted = active.selected, active.trials, self._context.trials
        finished = [trial for trial in trials if not trial.stopped]
        kept = [
            trial
            for trial in trials
            if not trial.stopped or trial.output or trial.usage is not None or trial.number in active.asked
        ]
        error = ""
        if len(finished) < wanted:
            none = "no trial was finished" if kept else "no trial ran"
            ran = f"{len(finished)} of {counted(wanted, 'trial')} ran" if finished else none
            cut = next((trial.error for trial in reversed(trials) if trial.stopped), "")
            error = f"{why or cut}; {ran}"
        pass_rate = active.task.pass_rate
        return TaskOutcome(
            id=selected.source.id,
            name=selected.source.name,
            status=task_status([trial.status for trial in finished], pass_rate),
            trials=kept,
            statistics=task_statistics([trial.score for trial in finished]) if active.task.graded else None,
            golden=active.task.spec.golden,
            file=selected.source.path.name,
            error=error,
            pass_rate=pass_rate,
        )

    def _report_trial(self, task_id: str, trial: TrialOutcome) -> None:
        for grader, verdict in verdicts_of(trial):
            self._send(
                "graded",
                task=task_id,
                trial=trial.number,
                grader=grader,
                score=None if verdict.status == "pending" else verdict.score,
                passed=verdict.passed,
                message=verdict.feedback,
                status=verdict.shown_status,
                failures=failures_of(verdict) or None,
                duration_ms=verdict.duration_ms,
            )
        status = status_by_verdicts(trial)
        kind = _kind(status, pending=any(verdicts_of(trial)))
        score = None if status == "skipped" else composite(trial.graded).weighted_score
        self._report_end(
            1,
            kind,
            task=task_id,
            trial=trial.number,
            score=score,
            message=trial.error or None,
            duration_ms=trial.duration_ms,
        )

    def _report_progress(self, active: _ActiveTask, trial: int, text: str, phase: Phase | None) -> None:
        task_id = active.selected.source.id
        if (phase == "asking" and self._context.executor.costs) or (
            phase == "grading" and self._context.judges.costs
        ):
            active.asked.add(trial)
            self._on_asked(task_id, trial)
        if phase is None:
            self._send("output", task=task_id, trial=trial, message=excerpt(text))
        else:
            self._send(phase, task=task_id, trial=trial)

    def _report_end(self, trials: int, kind: EventKind, **values: Any) -> None:
        spent = self._context.executor.spent
        cost = spent.usd if spent.known and spent.usd else None
        self._context.progress.report_end(
            trials, kind, baseline=self._context.baseline or None, cost_usd=cost, **values
        )

    def _send(self, kind: EventKind, **values: Any) -> None:
        self._context.progress.stream.send(kind, baseline=self._context.baseline or None, **values)


def _kind(status: TrialStatus, *, pending: bool) -> EventKind:
    """Return the event of a status: a trial that was graded but is skipped waits for a person."""
    return "pending" if status == "skipped" and pending else TRIAL_VERDICTS[status]


def _defect(error: Exception, what: str = "task") -> str:
    return f"the {what} broke: {type(error).__name__}: {error}"


def budget_for(reservation: Reservation, limits: Budget) -> Budget:
    """Return the most that a trial or a trigger prompt may spend, of what the run limits.

    Without a price it has no limit.
    """
    price = reservation.price
    if price is None:
        return Budget()
    return Budget(
        None if limits.max_cost_usd is None else _RUNAWAY * price.cost.usd or None,
        None if limits.max_tokens is None else _RUNAWAY * price.tokens or None,
    )


def _errored_trial(active: _ActiveTask, number: int, error: Exception) -> TrialOutcome:
    """Return a trial that has no outcome as an error, with the answer that was stored for it."""
    lost = isinstance(error, LostTrialError)
    why = str(error) if lost else _defect(error, "trial")
    kept = active.cut.get(number) or TrialOutcome(number, "error", None)
    return replace(kept, status="error", error=why, stopped=False, lost=lost)


def _cut_off(active: _ActiveTask) -> list[TrialOutcome]:
    """Return the active trials with an answer, or whose agent was asked, as they are cut off."""
    heard = {trial.number for trial in active.trials}
    return [
        active.cut.get(number) or TrialOutcome(number, "skipped", None, stopped=True)
        for number in active.running & (active.asked | active.cut.keys()) - heard
    ]


def unrun_task(selected: SelectedTask, why: str) -> TaskOutcome:
    """Return the outcome of a task that was chosen and did not begin."""
    source = selected.source
    return TaskOutcome(source.id, source.name, "skipped", file=source.path.name, error=why)


def _errored(selected: SelectedTask, why: str) -> TaskOutcome:
    source = selected.source
    return TaskOutcome(source.id, source.name, "error", file=source.path.name, error=why)
