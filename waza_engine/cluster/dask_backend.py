"""Trials on a cluster: handed to a scheduler, their documents read from the place of the run.

The scheduler may start a trial twice, lose a result, or be gone. So no message of it says what became of a
trial: each only makes this backend look into the place.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from distributed import Future
from distributed.scheduler import KilledWorker

from waza_engine.cluster.carrying import entry_of, message_of, spending_of
from waza_engine.cluster.place import Place
from waza_engine.results.codec.trials import arrived_answer_of, trial_document, trial_of, with_answers
from waza_engine.results.json_values import Block, Json, block_of, text_of
from waza_engine.results.record import ArrivedAnswer, TrialOutcome
from waza_engine.runs.limits.cancellation import CancelledRunError
from waza_engine.runs.trials.attempts import InterruptedTrialError
from waza_engine.runs.trials.backend import BackendError, LostTrialError
from waza_engine.runs.trials.context import RunContext, TrialRequest
from waza_engine.runs.trials.trial import Tell
from waza_engine.scoring.cost import Spending, tokens_of, total

if TYPE_CHECKING:
    from waza_engine.cluster.dask_cluster import DaskCluster

MOST_ATTEMPTS = 3
"""How many workers a trial may lose before it counts as broken."""
_TRIALS_PER_FOLDER = 1000
_GRACE_SECONDS = 5.0


@dataclass(slots=True)
class _Pending:
    """A trial that was handed out. ``failure`` is the error with which its worker gave it up.

    ``is_uncertain`` once the scheduler has said anything about it; ``lost`` are the workers that it lost.
    """

    request: TrialRequest
    key: str
    tell: Tell
    keep: Callable[[TrialOutcome], None]
    done: Callable[[TrialOutcome | Exception], None]
    attempt: int = 1
    future: Future | None = None
    is_uncertain: bool = False
    failure: str = ""
    lost: tuple[str, ...] = ()


class DaskBackend:
    """Executes the trials of one pass on a cluster. All but ``start`` is called by the cluster's thread."""

    def __init__(self, cluster: DaskCluster, place: Place, bundle: str, context: RunContext) -> None:
        """``bundle`` is the digest of the files of the suite in the place, "" when all workers see them."""
        self._cluster = cluster
        self._context = context
        self._run_id = context.progress.stream.run_id
        self._suite = context.suite.directory
        self._topic = f"{self._run_id}{'-baseline' if context.baseline else ''}"
        self.grown: Callable[[], None] = lambda: None
        """Is called when the cluster has more slots than before."""
        self._numbers = count()
        self._pending: dict[str, _Pending] = {}
        self._place = place
        self._bundle = bundle
        self._looked = time.monotonic()
        cluster.listen(self._topic, self._hear)
        context.cancellation.on_request(self._cancel)
        meter = context.executor.meter
        meter.stopping.on_request(lambda: cluster.reach_limit(self._place.name, meter.reason))

    @property
    def workers(self) -> int:
        """Return how many trials the cluster takes at a time, no more than ``--workers``."""
        most = self._context.settings.workers
        return max(1, min(self._cluster.room, most or self._cluster.room))

    @property
    def grace_seconds(self) -> float:
        """Return how long workers may take to end their trials."""
        return _GRACE_SECONDS

    def on_room(self, call: Callable[[], None]) -> None:
        """Call this when workers have joined."""
        self.grown = call

    def close(self) -> None:
        """End what workers have started for the pass."""
        self._cluster.post(self._pending.clear)
        self._cluster.end_pass(self, self._place.name, baseline=self._context.baseline)

    def start(
        self,
        request: TrialRequest,
        tell: Tell,
        keep: Callable[[TrialOutcome], None],
        done: Callable[[TrialOutcome | Exception], None],
    ) -> None:
        """Hand a trial to the cluster. Its worker stores the answers; ``keep`` gets them if it is lost."""
        number = next(self._numbers)
        name = f"{'baseline-' if request.baseline else ''}{number}"
        pending = _Pending(request, f"{number // _TRIALS_PER_FOLDER}/{name}", tell, keep, done)
        self._cluster.post(lambda: self._begin(pending))

    def look(self) -> None:
        """See what became of the trials that the scheduler said something about."""
        if time.monotonic() - self._looked >= self._place.look_seconds:
            self._looked = time.monotonic()
            self._look()

    def _look(self) -> None:
        gone = self._cluster.failure
        for pending in tuple(self._pending.values()):
            pending.is_uncertain = pending.is_uncertain or bool(gone)
            if pending.is_uncertain:
                self._resolve(pending)
        if gone and self._pending and not any(map(self._is_claimed, self._pending.values())):
            self.break_off(f"{gone}; `--resume` runs the rest")

    def break_off(self, why: str) -> None:
        """End the run with an error."""
        for pending in tuple(self._pending.values()):
            self._end(pending, BackendError(why))

    def _begin(self, pending: _Pending) -> None:
        self._pending[pending.key] = pending
        if self._context.cancellation.requested:
            self._end(pending, CancelledRunError())
        else:
            self._submit(pending)

    def _submit(self, pending: _Pending) -> None:
        pending.is_uncertain, pending.failure, pending.future = False, "", None
        if not self._cluster.can_submit:
            pending.is_uncertain = True
            return
        request, meter = pending.request, self._context.executor.meter
        message = message_of(request, self._place, self._suite, self._run_id, meter.limited, self._bundle)
        message |= {"key": pending.key, "attempt": pending.attempt, "topic": self._topic}
        attempt = pending.attempt
        # The scheduler forgets a key when its future is gone, which takes a moment.
        name = f"{self._topic}/{pending.key}/{attempt}/{secrets.token_hex(2)}"
        pending.future = self._cluster.submit(message, name)
        pending.future.add_done_callback(
            lambda future: self._cluster.post(lambda: self._settled(pending, attempt, future))
        )

    def _settled(self, pending: _Pending, attempt: int, future: Future) -> None:
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
            pending.tell(text_of(event.get("text")), event.get("phase"))

    def _resolve(self, pending: _Pending) -> None:
        """Look into the place; end the trial, hand it out again, or leave it to its worker."""
        place, key, attempt = self._place, pending.key, pending.attempt
        try:
            document, worker = place.document(key), None
            if document is None:
                worker = place.claimant(key, attempt)
                if worker is None and not pending.failure:
                    if self._cluster.can_submit and not self._context.cancellation.requested:
                        self._submit(pending)
                    elif self._context.cancellation.requested:
                        self._end(pending, CancelledRunError())
                    return
                if worker is not None and not pending.failure and not place.is_lost(worker, key, attempt):
                    return
                # It may have been written before its worker ended.
                document = place.document(key)
            if document is not None:
                self._finish(pending, document)
            elif place.revoke(key, attempt):
                self._again(pending, worker or "")
            else:
                self._lose(pending, worker or "")
        except OSError as error:
            reason = error.strerror or error
            self._end(pending, BackendError(f"{place.name} cannot be used: {reason}"))

    def _is_claimed(self, pending: _Pending) -> bool:
        try:
            return self._place.claimant(pending.key, pending.attempt) is not None
        except OSError:
            return False

    def _again(self, pending: _Pending, worker: str) -> None:
        """Hand out a trial whose worker was lost before it asked an agent that costs."""
        pending.lost = (*pending.lost, worker or "one that could not begin")
        if len(pending.lost) >= MOST_ATTEMPTS:
            why = pending.failure or f"its workers were lost: {', '.join(pending.lost)}"
            self._end(pending, TrialOutcome(pending.request.trial, "error", None, error=why))
            return
        pending.attempt += 1
        self._submit(pending)

    def _lose(self, pending: _Pending, worker: str) -> None:
        """End a trial whose worker was lost while an agent that costs was asked."""
        run: Json = trial_document(TrialOutcome(pending.request.trial, "skipped", None, stopped=True))
        answers: list[ArrivedAnswer] = []
        for entry in self._place.entries(pending.key):
            if trial := block_of(entry, next(iter(entry_of(pending.request, {})))):
                # A trial has the answers before it.
                run, answers = dict(block_of(trial, "run")), []
            elif answer := block_of(entry, "answer"):
                answers.append(arrived_answer_of(answer))
        outcome = trial_of(with_answers(run, answers), pending.request.trial)
        used = total((outcome.usage, outcome.judge_usage, outcome.other_usage))
        if outcome.cost is not None:
            self._context.executor.meter.carry(Spending(tokens_of(used), outcome.cost))
        why = pending.failure or f"its worker {worker} was lost"
        pending.keep(outcome)
        error = (
            f"{why} while the agent was asked, so this trial may have been paid for; "
            "`--resume --retry lost` runs it again"
        )
        self._end(pending, LostTrialError(error))

    def _finish(self, pending: _Pending, document: Block) -> None:
        meter, limit = self._context.executor.meter, text_of(document.get("limit"))
        meter.carry(spending_of(block_of(document, "spent")))
        if limit and not meter.reason:
            meter.stop(limit)
        meter.cut = meter.cut or document.get("cut") is True
        if document.get("cancelled"):
            self._end(pending, CancelledRunError())
            return
        entry = block_of(document, next(iter(entry_of(pending.request, {}))))
        outcome = trial_of(block_of(entry, "run"), pending.request.trial)
        self._end(pending, InterruptedTrialError(outcome) if document.get("interrupted") else outcome)

    def _end(self, pending: _Pending, found: TrialOutcome | Exception) -> None:
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
            self._place.write_stop("cancelled")
        self._cluster.end_run(self._place.name)
        self._cluster.post(cancel)
