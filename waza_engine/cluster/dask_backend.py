"""Trials on a cluster: handed to a scheduler, their documents read from the store of the run.

The scheduler may start a trial twice, lose a result, or be gone. So no message of it says what became of a
trial: each only makes this backend look into the store. Trigger prompts and hooks of tasks go the same way.
"""

from __future__ import annotations

import queue
import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import count
from typing import Any

from distributed import Future
from distributed.scheduler import KilledWorker

from waza_engine.cluster.dask_cluster import DaskCluster
from waza_engine.cluster.pending import FoundT, Pending, PendingHooks, PendingPrompt, PendingTrial
from waza_engine.cluster.run_store import RunStore
from waza_engine.cluster.steps import message_of, spending_of
from waza_engine.results.json_values import Block, Json, block_of, text_of
from waza_engine.results.record import ArrivedAnswer, TrialOutcome, TriggerOutcome
from waza_engine.runs.limits.cancellation import CancelledRunError
from waza_engine.runs.trials.backend import BackendError, BackendFactory
from waza_engine.runs.trials.context import RunContext, TrialRequest, TriggerRequest
from waza_engine.runs.trials.hooks import TaskHooks
from waza_engine.runs.trials.selection import SelectedTask
from waza_engine.runs.trials.trial import Tell

MOST_ATTEMPTS = 3
"""How many workers a trial may lose before it counts as broken."""
_TRIALS_PER_FOLDER = 1000
_GRACE_SECONDS = 5.0


def backends_of(cluster: DaskCluster) -> BackendFactory:
    """Return the function that opens the backend of a pass on a cluster.

    It raises ``SuiteError`` when workers cannot see the suite.
    """

    def open_backend(tasks: Sequence[SelectedTask], context: RunContext) -> DaskBackend:
        backend = DaskBackend(cluster, *cluster.open_store(tasks, context), context)
        cluster.begin_pass(backend)
        return backend

    return open_backend


class DaskBackend:
    """Executes the trials of one pass on a cluster. All but ``start`` is called by the cluster's thread."""

    def __init__(self, cluster: DaskCluster, run_store: RunStore, bundle: str, context: RunContext) -> None:
        """``bundle`` is the digest of the files of the suite in the store, "" when all workers see them."""
        self._cluster = cluster
        self._context = context
        self._run_id = context.progress.stream.run_id
        self._suite = context.suite.directory
        self._topic = f"{self._run_id}{'-baseline' if context.baseline else ''}"
        self.grown: Callable[[], None] = lambda: None
        """Is called when the cluster has more slots than before."""
        self._numbers = count()
        self._pending: dict[str, Pending[Any]] = {}
        self._workers_of: dict[tuple[str, int] | None, list[str]] = {}
        """The workers that have run the hooks before a task, by its file and position; the last has it."""
        self._run_store = run_store
        self._bundle = bundle
        self._looked = time.monotonic()
        cluster.listen(self._topic, self._hear)
        context.cancellation.on_request(self._cancel)
        meter = context.executor.meter
        meter.stopping.on_request(lambda: cluster.reach_limit(self._run_store.name, meter.reason))

    @property
    def workers(self) -> int:
        """Return how many trials the cluster takes at a time, no more than ``--workers``."""
        most = self._context.settings.workers
        return max(1, min(self._cluster.room, most or self._cluster.room))

    @property
    def prompts(self) -> int:
        """Return how many trigger prompts the cluster takes at a time: as many as trials."""
        return self.workers

    @property
    def grace_seconds(self) -> float:
        """Return how long workers may take to end their trials."""
        return _GRACE_SECONDS

    def on_room(self, call: Callable[[], None]) -> None:
        """Call this when workers have joined."""
        self.grown = call

    def close(self) -> None:
        """End what workers have started for the pass."""
        self._cluster.post(lambda: self._end_all(CancelledRunError()))
        self._cluster.end_pass(self, self._run_store.name, baseline=self._context.baseline)

    def start(
        self,
        request: TrialRequest,
        tell: Tell,
        keep: Callable[[TrialOutcome], None],
        done: Callable[[TrialOutcome | Exception], None],
    ) -> None:
        """Hand a trial to the cluster. Its worker stores the answers; ``keep`` gets them if it is lost."""
        self._hand_out(PendingTrial(request, tell, keep, done))

    def run_hooks(self, request: TrialRequest, when: TaskHooks) -> Sequence[str]:
        """Run the hooks of a task: before it on any worker, which then has the task, and after it there.

        If that worker was lost, others have had it: each has run the hooks before it.
        """
        task = request.file, request.place
        workers: list[str] = []
        if when == "before_task":
            self._workers_of[task] = workers
        else:
            workers = self._workers_of.pop(task, workers)
        found: list[str] = []
        for worker in tuple(workers) or ("",):
            found += self._awaited(partial(PendingHooks, when, request, worker))
        return list(dict.fromkeys(found))

    def try_prompt(
        self, request: TriggerRequest, asked: Callable[[], None], arrived: Callable[[ArrivedAnswer], None]
    ) -> TriggerOutcome:
        """Try a trigger prompt on any worker, which stores the answers."""
        meter = self._context.executor.meter
        return self._awaited(partial(PendingPrompt, request, asked, arrived, lambda: meter.reason))

    def _awaited(self, step: Callable[[Callable[[FoundT | Exception], None]], Pending[FoundT]]) -> FoundT:
        """Hand out a step and return its result, or raise it."""
        results: queue.SimpleQueue[FoundT | Exception | None] = queue.SimpleQueue()
        withdraw = self._context.cancellation.on_request(lambda: results.put(None))
        try:
            self._hand_out(step(results.put))
            found = results.get()
            # When the run is cancelled, its worker has a moment to end it.
            found = results.get(timeout=_GRACE_SECONDS) if found is None else found
        except queue.Empty:
            raise CancelledRunError from None
        finally:
            withdraw()
        assert found is not None, "a run is cancelled once"
        if isinstance(found, Exception):
            raise found
        return found

    def _hand_out(self, pending: Pending[Any]) -> None:
        number = next(self._numbers)
        name = f"{'baseline-' if self._context.baseline else ''}{number}"
        pending.key = f"{number // _TRIALS_PER_FOLDER}/{name}"
        self._cluster.post(lambda: self._begin(pending))

    def look(self) -> None:
        """See what became of the trials that the scheduler said something about."""
        if time.monotonic() - self._looked >= self._run_store.look_seconds:
            self._looked = time.monotonic()
            self._look()

    def _look(self) -> None:
        gone = self._cluster.failure
        for pending in tuple(self._pending.values()):
            if pending.worker and self._cluster.has_lost(pending.worker, pending.submitted):
                # It would wait for this worker for ever.
                with suppress(ValueError):
                    self._workers_of.get(pending.task, []).remove(pending.worker)
                pending.worker, pending.is_uncertain = "", True
            pending.is_uncertain = pending.is_uncertain or bool(gone)
            if pending.is_uncertain:
                self._resolve(pending)
        if gone and self._pending and not any(map(self._is_claimed, self._pending.values())):
            self.break_off(f"{gone}; `--resume` runs the rest")

    def break_off(self, why: str) -> None:
        """End the run with an error."""
        self._end_all(BackendError(why))

    def _end_all(self, error: Exception) -> None:
        for pending in tuple(self._pending.values()):
            self._end(pending, error)

    def _begin(self, pending: Pending[Any]) -> None:
        self._pending[pending.key] = pending
        if pending.step == "trial" and (workers := self._workers_of.get(pending.task)):
            pending.worker = workers[-1]
        if self._context.cancellation.requested:
            self._end(pending, CancelledRunError())
        else:
            self._submit(pending)

    def _submit(self, pending: Pending[Any]) -> None:
        pending.is_uncertain, pending.failure, pending.future = False, "", None
        if not self._cluster.can_submit:
            pending.is_uncertain = True
            return
        message = message_of(
            pending.step,
            pending.request,
            self._run_store,
            self._suite,
            self._run_id,
            self._context.executor.meter.limited,
            self._bundle,
        )
        message |= {"key": pending.key, "attempt": pending.attempt, "topic": self._topic}
        attempt = pending.attempt
        # The scheduler forgets a key when its future is gone, which takes a moment.
        name = f"{self._topic}/{pending.key}/{attempt}/{secrets.token_hex(2)}"
        pending.submitted = time.monotonic()
        pending.future = self._cluster.submit(message, name, pending.worker)
        pending.future.add_done_callback(
            lambda future: self._cluster.post(lambda: self._settled(pending, attempt, future))
        )

    def _settled(self, pending: Pending[Any], attempt: int, future: Future) -> None:
        if self._pending.get(pending.key) is not pending or pending.attempt != attempt:
            return
        if future.status == "error":
            error = future.exception()
            if not isinstance(error, KilledWorker):
                pending.failure = str(error) or type(error).__name__
        pending.is_uncertain = True
        self._resolve(pending)

    def _hear(self, event: Json) -> None:
        pending = self._pending.get(text_of(event.get("key")))
        if pending is not None and pending.attempt == event.get("attempt"):
            pending.hear(event)

    def _resolve(self, pending: Pending[Any]) -> None:
        """Look into the store; end the trial, hand it out again, or leave it to its worker."""
        run_store, key, attempt = self._run_store, pending.key, pending.attempt
        try:
            document, worker = run_store.document(key), None
            if document is None:
                worker = run_store.claimant(key, attempt)
                if worker is None and not pending.failure:
                    if self._cluster.can_submit and not self._context.cancellation.requested:
                        self._submit(pending)
                    elif self._context.cancellation.requested:
                        self._end(pending, CancelledRunError())
                    return
                if worker is not None and not pending.failure and not run_store.is_lost(worker, key, attempt):
                    return
                # It may have been written before its worker ended.
                document = run_store.document(key)
            if document is not None:
                self._finish(pending, document)
            elif run_store.revoke(key, attempt):
                self._again(pending, worker or "")
            else:
                self._lose(pending, worker or "")
        except OSError as error:
            reason = error.strerror or error
            self._end(pending, BackendError(f"{run_store.name} cannot be used: {reason}"))

    def _is_claimed(self, pending: Pending[Any]) -> bool:
        try:
            return self._run_store.claimant(pending.key, pending.attempt) is not None
        except OSError:
            return False

    def _again(self, pending: Pending[Any], worker: str) -> None:
        """Hand out a trial whose worker was lost before it asked an agent that costs."""
        pending.lost = (*pending.lost, worker or "one that could not begin")
        if len(pending.lost) >= MOST_ATTEMPTS:
            why = pending.failure or f"its workers were lost: {', '.join(pending.lost)}"
            self._end(pending, pending.failed(why))
            return
        pending.attempt += 1
        self._submit(pending)

    def _lose(self, pending: Pending[Any], worker: str) -> None:
        """End a step whose worker was lost while an agent that costs was asked."""
        why = pending.failure or f"its worker {worker} was lost"
        found, spent = pending.lose(why, lambda: self._run_store.entries(pending.key))
        self._context.executor.meter.carry(spent)
        self._end(pending, found)

    def _finish(self, pending: Pending[Any], document: Block) -> None:
        meter, limit = self._context.executor.meter, text_of(document.get("limit"))
        meter.carry(spending_of(block_of(document, "spent")))
        if limit and not meter.reason:
            meter.stop(limit)
        meter.cut = meter.cut or document.get("cut") is True
        found = pending.result(document, lambda: self._run_store.entries(pending.key))
        workers, address = self._workers_of.get(pending.task), text_of(document.get("address"))
        if workers is not None and pending.step != "after_task" and address not in workers:
            workers.append(address)
        self._end(pending, found)

    def _end(self, pending: Pending[Any], found: object) -> None:
        del self._pending[pending.key]
        if pending.future is not None:
            pending.future.release()
        pending.done(found)

    def _cancel(self) -> None:
        """End the trials on all workers; those that no worker has begun end here."""

        def cancel() -> None:
            futures = [pending.future for pending in self._pending.values() if pending.future is not None]
            self._cluster.cancel(futures)
            for pending in self._pending.values():
                pending.is_uncertain = True
            self._look()

        # The workers are asked as well.
        with suppress(OSError):
            self._run_store.write_stop("cancelled")
        self._cluster.end_run(self._run_store.name)
        self._cluster.post(cancel)
