"""The interface through which a run executes its trials, and its implementation with threads.

A run hands a ``TrialBackend`` one request after another, as many at a time as it has room for.
``ThreadBackend`` executes them in threads of this process. Hooks of tasks and trigger prompts go the same
way; a call for one of these ends when it has ended.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from waza_engine.results.record import ArrivedAnswer, TrialOutcome, TriggerOutcome
from waza_engine.runs.limits.cancellation import start_call
from waza_engine.runs.loading.suite_on_disk import SuiteError
from waza_engine.runs.trials.context import RunContext, TrialRequest, TriggerRequest
from waza_engine.runs.trials.hooks import TaskHooks, run_task_hooks
from waza_engine.runs.trials.selection import SelectedTask
from waza_engine.runs.trials.trial import Tell, run_trial
from waza_engine.runs.trials.triggers import prompts_at_a_time, try_prompt
from waza_engine.spec.eval_config import EvalConfig

MOST_WORKERS = 8
_CLEANING_SECONDS = 0.5


class LostTrialError(Exception):
    """The place where a trial ran is gone, so that it may have been paid for; the message says which."""


class BackendError(SuiteError):
    """No more trials can be executed: the run ends, and finished results are stored."""


class TrialBackend(Protocol):
    """Executes trials, somewhere."""

    @property
    def workers(self) -> int:
        """Return how many trials it takes at a time; asked again whenever something ends."""
        ...

    @property
    def prompts(self) -> int:
        """Return how many trigger prompts it takes at a time."""
        ...

    @property
    def grace_seconds(self) -> float:
        """Return how long a run that ends early waits for the outcomes of active trials."""
        ...

    def on_room(self, call: Callable[[], None]) -> None:
        """Call this, from any thread, when ``workers`` has grown. It is called once, before any trial."""
        ...

    def start(
        self,
        request: TrialRequest,
        tell: Tell,
        keep: Callable[[TrialOutcome], None],
        done: Callable[[TrialOutcome | Exception], None],
    ) -> None:
        """Begin a trial and return immediately.

        ``tell`` gets what is worth showing meanwhile, answers, tool calls and warnings, as far as known, and
        the phase that the trial enters. ``keep`` gets, from any thread, the trial as it would be if it were
        cut off now. ``done`` is called once, from any thread: with the outcome, or the error that prevented
        it, a ``CancelledRunError`` when the run is cancelled, a ``LostTrialError`` when it may have been paid
        for, a ``BackendError`` to end the run.
        """
        ...

    def run_hooks(self, request: TrialRequest, when: TaskHooks) -> Sequence[str]:
        """Run the hooks of a task where its trials are executed; return a warning for each that failed.

        Raises ``HookError`` as ``run_task_hooks`` does, ``CancelledRunError`` and ``BackendError``.
        """
        ...

    def try_prompt(
        self,
        request: TriggerRequest,
        asked: Callable[[], None],
        arrived: Callable[[ArrivedAnswer], None],
    ) -> TriggerOutcome:
        """Return the result of a trigger prompt; ``is_lost`` when it may have been paid for.

        ``asked`` is called right before an agent gets it, perhaps several times, and ``arrived`` with each
        answer that was paid for; both from any thread. Raises ``CancelledRunError`` and ``BackendError``.
        """
        ...

    def close(self) -> None:
        """End what belongs to the backend; the last call, after which no outcome is expected."""
        ...


BackendFactory = Callable[[Sequence[SelectedTask], RunContext], TrialBackend]
"""Creates the backend of a pass from its tasks and their shared context."""


class ThreadBackend:
    """Trials in daemon threads: one that never ends keeps neither the run nor the process from ending."""

    def __init__(self, tasks: Sequence[SelectedTask], context: RunContext) -> None:
        suite = context.suite
        # A file that two patterns match has the same task twice.
        self._tasks = {(suite.file_of(task.source), task.source.place): task.trial for task in tasks}
        self._context = context

    @property
    def workers(self) -> int:
        """Return the suite's number of workers: one unless it is parallel."""
        return worker_count(self._context.suite.spec.config)

    @property
    def prompts(self) -> int:
        """Return the suite's number of workers, whether it is parallel or not."""
        return prompts_at_a_time(self._context.suite.spec.config.workers)

    @property
    def grace_seconds(self) -> float:
        """Return a moment: a cancelled trial still removes its workspace; the process may end after this."""
        return _CLEANING_SECONDS

    def on_room(self, call: Callable[[], None]) -> None:
        """Do nothing: the number of threads stays."""

    def start(
        self,
        request: TrialRequest,
        tell: Tell,
        keep: Callable[[TrialOutcome], None],
        done: Callable[[TrialOutcome | Exception], None],
    ) -> None:
        """Begin a trial in a thread."""
        task = self._tasks[request.file, request.place]
        assert task is not None, "only tasks that can run are handed out"
        start_call(lambda: run_trial(task, request, self._context, tell, keep), done)

    def run_hooks(self, request: TrialRequest, when: TaskHooks) -> Sequence[str]:
        """Run the hooks of a task on this machine."""
        del request
        return run_task_hooks(self._context, when)

    def try_prompt(
        self,
        request: TriggerRequest,
        asked: Callable[[], None],
        arrived: Callable[[ArrivedAnswer], None],
    ) -> TriggerOutcome:
        """Try a trigger prompt in this thread."""

        def keep(answer: ArrivedAnswer) -> None:
            self._context.keep_answer(answer)
            arrived(answer)

        return try_prompt(request, replace(self._context, keep_answer=keep), asked)

    def close(self) -> None:
        """Do nothing: the threads are daemons."""


def worker_count(config: EvalConfig) -> int:
    """Return how many trials run at the same time; ``workers`` of zero is one a processor, at most 8."""
    if not config.parallel:
        return 1
    return config.workers if config.workers > 0 else min(os.cpu_count() or 1, MOST_WORKERS)
