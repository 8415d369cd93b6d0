"""A trial on a worker: claimed, executed, its document written; the same for every engine of clusters."""

from __future__ import annotations

import os
import platform
import secrets
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import psutil

from waza_engine.boundary import suite_boundary
from waza_engine.cluster.bundle import content_name, manifest_name, settings_on_worker
from waza_engine.cluster.host import Host
from waza_engine.cluster.place import FolderPlace, Place
from waza_engine.executors.base import ExecutorError
from waza_engine.masking import masked
from waza_engine.results.codec.trials import answer_document, cost_document, cost_of, trial_document
from waza_engine.results.json_values import Block, Json, block_of, given, text_of, whole
from waza_engine.results.record import ArrivedAnswer, TrialOutcome
from waza_engine.runs.limits.budget import Meter
from waza_engine.runs.limits.cancellation import CancelledRunError, RunCancellation
from waza_engine.runs.loading.suite import SuiteError
from waza_engine.runs.settings.table import Budget, RunSettings
from waza_engine.runs.trials.attempts import InterruptedTrialError
from waza_engine.runs.trials.context import TrialRequest, request_from
from waza_engine.runs.trials.trial import Phase
from waza_engine.scoring.cost import Cost, Spending
from waza_engine.spec.problems import SuiteFileError
from waza_engine.vocabulary import Usage

RENEW_SECONDS = 5.0
GIVE_UP_SECONDS = 20.0
"""A worker that cannot renew its lease for so long ends its trials: soon others call them lost."""
_BROKEN_SECONDS = 2.0
_CHECK_SECONDS = 1.0
_IDLE_SECONDS = 60.0

Send = Callable[[Json], None]
"""Sends an event of a trial to the coordinator: its ``key`` and ``attempt``, a ``text`` and a ``phase``."""


class LeaseLostError(Exception):
    """The worker cannot use the place of a run: its lease, an answer, or the files of the suite."""


def carry(message: Block, send: Send) -> None:
    """Execute a trial unless it was begun before; its document is in the place of the run afterwards.

    ``message`` is made by ``message_of``. Raises ``OSError`` and ``LeaseLostError`` when the place cannot be
    used: then there is no document.
    """
    run = _active_run(message)
    key, attempt, place = text_of(message["key"]), whole(message["attempt"]), run.place
    try:
        with run.held():
            if place.is_stopped or place.document(key) or not place.claim(key, attempt, WORKER):
                return
            document = _document(_Trial(message, run, send))
            if run.failure:
                raise LeaseLostError(run.failure)
            if document is not None:
                place.finish(key, document)
    except (OSError, LeaseLostError):
        # A worker that cannot write must not take one trial after the other.
        time.sleep(_BROKEN_SECONDS)
        raise


def message_of(
    request: TrialRequest, place: Place, suite: Path, run_id: str, spent: Spending, bundle: str
) -> Json:
    """Return the message for a trial without its ``key`` and ``attempt``: plain JSON.

    ``suite`` is the directory of the suite, ``spent`` what the run has spent so far. ``bundle`` is the digest
    of the files of the suite for workers that do not see them, "" when all do.
    """
    settings = request.settings
    context = settings.context_directory
    # Workers have working directories of their own.
    settings = replace(
        settings, path=settings.path.absolute(), context_directory=context and context.absolute()
    )
    return {
        "run": run_id,
        "place": place.name,
        "suite": str(suite),
        "bundle": bundle,
        "request": replace(request, settings=settings).document(),
        "spent": spending_document(spent),
    }


def spending_document(spent: Spending) -> Json:
    """Return what was spent as JSON."""
    return {"tokens": spent.tokens, "cost": cost_document(spent.cost)}


def spending_of(document: Block) -> Spending:
    """Return what a document says was spent."""
    return Spending(whole(document.get("tokens")), cost_of(document.get("cost")) or Cost())


def entry_of(request: TrialRequest, run: Json) -> Json:
    """Return the line of a journal about a trial; ``run`` is an element of ``runs``."""
    return {"baseline_trial" if request.baseline else "trial": {"test_id": request.task, "run": run}}


def end_run(place: str) -> None:
    """End the trials of a run on this worker; returns immediately."""
    run = _runs.get(place)
    if run is not None:
        threading.Thread(target=run.cancellation.request, daemon=True).start()


def reach_limit(place: str, reason: str) -> None:
    """End the calls of a run on this worker, for its budget is spent; returns immediately."""
    run = _runs.get(place)
    if run is not None:
        threading.Thread(target=run.reach_limit, args=(reason,), daemon=True).start()


def end_pass(place: str, baseline: bool) -> None:
    """End what was started on this worker for one pass of a run; returns immediately."""
    run = _runs.get(place)
    if run is not None:
        threading.Thread(target=run.close_host, args=(baseline,), daemon=True).start()


def why_not_read(place: str, suite: str, nonce: str) -> str:
    """Return why this worker cannot read what the coordinator wrote to the place of a run, "" if it can."""
    try:
        return "" if place_at(place, Path(suite)).has(nonce) else "it is not there"
    except (OSError, ImportError) as error:
        return str(getattr(error, "strerror", None) or error)


def place_at(name: str, suite: Path) -> Place:
    """Return the place of a name: a folder of a suite, or one in an object store. Raises ``OSError``."""
    if "://" not in name:
        return FolderPlace(Path(name), suite_boundary(suite))
    from waza_engine.cluster.object_place import ObjectPlace

    return ObjectPlace(name)


def close_runs() -> None:
    """End the trials of all runs, and all that was started for them."""
    runs = [_runs.pop(place) for place in tuple(_runs)]
    for run in runs:
        # Others execute the trials that have paid for nothing.
        run.fail("the worker was ended")
        run.close()


WORKER = f"{platform.node()}-{os.getpid()}-{secrets.token_hex(3)}"
"""The name of this process in claims."""
_runs: dict[str, _ActiveRun] = {}
_creating = threading.Lock()


class _ActiveRun:
    """A run on this worker. ``failure`` says why its trials were ended before their time."""

    def __init__(self, message: Block) -> None:
        self.run_id = text_of(message["run"])
        self.place = place_at(text_of(message["place"]), Path(text_of(message["suite"])))
        self.cancellation = RunCancellation()
        self.failure = ""
        self._hosts: dict[bool, Host | SuiteError | SuiteFileError | ExecutorError] = {}
        self._loading = threading.Lock()
        self._lock = threading.Lock()
        self._active = 0
        self._renewed = -GIVE_UP_SECONDS
        self._used = time.monotonic()

    @contextmanager
    def held(self) -> Generator[None]:
        """Keep the lease during the block. Raises ``OSError``."""
        with self._lock:
            if not self._active or time.monotonic() - self._renewed > RENEW_SECONDS:
                self._renew()
            self._active += 1
        try:
            yield
        finally:
            with self._lock:
                self._active -= 1
                self._used = time.monotonic()

    def host(self, request: TrialRequest, bundle: str) -> Host:
        """Return the host of the trials with skills, or without; it is created once.

        ``bundle`` is that of the message. Raises ``LeaseLostError`` when its files cannot be fetched.
        """
        with self._loading:
            found = self._hosts.get(request.baseline)
            if found is None:
                try:
                    found = Host(
                        self.run_id,
                        self._settings(request, bundle),
                        self.cancellation,
                        file=request.file,
                        baseline=request.baseline,
                    )
                except (SuiteError, SuiteFileError, ExecutorError) as error:
                    found = error
                self._hosts[request.baseline] = found
        if isinstance(found, Exception):
            raise found
        return found

    def _settings(self, request: TrialRequest, bundle: str) -> RunSettings:
        if not bundle:
            return request.settings
        try:
            manifest = self.place.content(manifest_name(bundle))
            return settings_on_worker(
                request.settings, manifest, lambda: self.place.content(content_name(bundle))
            )
        except OSError as error:
            why = error.strerror or error
            raise LeaseLostError(f"the worker {WORKER} cannot get the files of the suite: {why}") from None

    def look(self) -> bool:
        """Renew the lease if it is time, and return whether the run is still needed here."""
        now, is_reached = time.monotonic(), True
        with self._lock:
            active = self._active
            if active and now - self._renewed > RENEW_SECONDS:
                try:
                    self._renew()
                except OSError:
                    is_reached = False
            late = active > 0 and time.monotonic() - self._renewed > GIVE_UP_SECONDS
            idle = not active and now - self._used > _IDLE_SECONDS
        if late:
            self.fail(f"{self.place.name} could not be written for too long")
        # A place that does not answer would only delay the next renewal.
        if is_reached and (self.place.is_stopped or not self.place.is_there):
            self.cancellation.request()
        return active > 0 or not idle

    def fail(self, why: str) -> None:
        """End the trials of the run on this worker."""
        self.failure = self.failure or why
        self.cancellation.request()

    def reach_limit(self, reason: str) -> None:
        """End the calls under way."""
        for host in tuple(self._hosts.values()):
            if isinstance(host, Host):
                host.reach_limit(reason)

    def close_host(self, baseline: bool) -> None:
        """End what was started for the trials with skills, or without."""
        with self._loading:
            host = self._hosts.pop(baseline, None)
        if isinstance(host, Host):
            host.close()

    def close(self) -> None:
        """End the trials, and all that was started for them."""
        self.cancellation.request()
        for baseline in (False, True):
            self.close_host(baseline)

    def _renew(self) -> None:
        process = {
            "pid": os.getpid(),
            "started": psutil.Process().create_time(),
            "booted": psutil.boot_time(),
        }
        self.place.write_lease(WORKER, {"machine": platform.node(), "process": process})
        self._renewed = time.monotonic()


def _active_run(message: Block) -> _ActiveRun:
    place = text_of(message["place"])
    with _creating:
        if not _runs:
            threading.Thread(target=_look_after_runs, name="leases", daemon=True).start()
        run = _runs.get(place)
        if run is None or run.failure:
            if run is not None:
                threading.Thread(target=run.close, daemon=True).start()
            run = _runs[place] = _ActiveRun(message)
        return run


def _look_after_runs() -> None:
    """Renew leases, and end runs whose coordinator wants that or is gone, until there is none."""
    while True:
        time.sleep(_CHECK_SECONDS)
        for place, run in tuple(_runs.items()):
            if not run.look() and _runs.pop(place, None) is not None:
                run.close()
        with _creating:
            if not _runs:
                return


class _TrialMeter(Meter):
    """Counts one trial, within the limits of its run; ends one that spends a multiple of its price."""

    def __init__(self, most: Budget, limits: Meter) -> None:
        super().__init__(Budget(), limits)
        self._most = most
        self.is_runaway = False

    def count(self, usage: Usage | None, cost: Cost, *, must_tell: bool) -> None:
        """Add a call's usage."""
        super().count(usage, cost, must_tell=must_tell)
        most = self._most
        self.is_runaway = not self.reason and (
            (most.max_tokens is not None and self.tokens > most.max_tokens)
            or (most.max_cost_usd is not None and self.cost.usd > most.max_cost_usd)
        )
        if self.is_runaway:
            self.stop("the trial has spent a multiple of what others of its task cost, so it was ended")


class _Trial:
    """One attempt of a trial on this worker."""

    def __init__(self, message: Block, run: _ActiveRun, send: Send) -> None:
        self.request = request_from(message["request"])
        self.run = run
        budget = self.request.settings.budget
        limits = Meter(budget)
        limits.carry(spending_of(block_of(message, "spent")))
        self.meter = _TrialMeter(self.request.budget, limits)
        self._bundle = text_of(message["bundle"])
        self._key, self._attempt = text_of(message["key"]), whole(message["attempt"])
        self._send = send
        self._permitted = False

    def host(self) -> Host:
        return self.run.host(self.request, self._bundle)

    def tell(self, host: Host, text: str, phase: Phase | None) -> None:
        if (phase == "asking" and host.agent_costs) or (phase == "grading" and host.judges_cost):
            self._permit()
        self._send({"key": self._key, "attempt": self._attempt, "text": masked(text), "phase": phase})

    def keep(self, outcome: TrialOutcome) -> None:
        self._store(entry_of(self.request, trial_document(outcome)))

    def keep_answer(self, answer: ArrivedAnswer) -> None:
        self._store({"answer": answer_document(answer)})

    def _permit(self) -> None:
        """Raise ``CancelledRunError`` when the attempt was revoked."""
        if self._permitted:
            return
        request = self.request
        asked = {
            "test_id": request.task,
            "run_number": request.trial,
            **given(baseline=request.baseline),
        }
        try:
            self._permitted = self.run.place.permit(self._key, self._attempt, WORKER, {"asked": asked})
        except OSError as error:
            self.run.fail(f"{self.run.place.name} cannot be written: {error.strerror or error}")
        if not self._permitted:
            raise CancelledRunError

    def _store(self, entry: Json) -> None:
        try:
            self.run.place.append(self._key, entry)
        except OSError as error:
            # Nothing more may be paid for when it cannot be kept.
            self.run.fail(f"an answer could not be stored: {error.strerror or error}")


def _document(trial: _Trial) -> Json | None:
    """Return the document of a trial; None when it was revoked before anything was paid for."""
    interrupted = cancelled = False
    number = trial.request.trial
    try:
        host = trial.host()
        outcome = host.execute(
            trial.request,
            trial.meter,
            lambda text, phase=None: trial.tell(host, text, phase),
            trial.keep,
            trial.keep_answer,
        )
    except InterruptedTrialError as error:
        outcome, interrupted = error.outcome, True
        if trial.run.failure:
            # There will be no document, and the answers were paid for.
            trial.keep(outcome)
    except CancelledRunError:
        if not trial.run.cancellation.requested:
            return None
        outcome, cancelled = TrialOutcome(number, "skipped", None, stopped=True), True
    except (SuiteError, SuiteFileError, ExecutorError) as error:
        outcome = TrialOutcome(number, "error", None, error=f"the worker {WORKER}: {error}")
    except LeaseLostError:
        raise
    except Exception as error:  # noqa: BLE001 - a defect of ours costs this trial, not the further ones
        broke = f"the trial broke: {type(error).__name__}: {error}"
        outcome = TrialOutcome(number, "error", None, error=broke)
    meter = trial.meter
    if meter.is_runaway and outcome.stopped:
        outcome = replace(outcome, status="error", stopped=False, error=meter.reason)
    reached = meter.reason != "" and not meter.is_runaway
    entry = {} if cancelled else entry_of(trial.request, trial_document(outcome))
    return {
        **entry,
        "worker": WORKER,
        "spent": spending_document(Spending(meter.tokens, meter.cost)),
        **given(
            interrupted=interrupted,
            cancelled=cancelled,
            limit=meter.reason if reached else "",
            cut=reached and meter.cut,
        ),
    }
