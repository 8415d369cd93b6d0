"""The runs that a worker takes part in: their stores and leases, and what was started for them."""

from __future__ import annotations

import os
import platform
import secrets
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from waza_engine.boundary import suite_boundary
from waza_engine.cluster.bundle import content_name, manifest_name, settings_on_worker
from waza_engine.cluster.host import Host, Request
from waza_engine.cluster.run_store import FolderRunStore, RunStore
from waza_engine.executors.executor import ExecutorError
from waza_engine.results.json_values import Block, text_of
from waza_engine.results.reading.journals import this_process
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.loading.suite_on_disk import SuiteError
from waza_engine.runs.settings.table import RunSettings
from waza_engine.spec.problems import SuiteFileError

RENEW_SECONDS = 5.0
GIVE_UP_SECONDS = 20.0
"""A worker that cannot renew its lease for so long ends its trials: soon others call them lost."""
_CHECK_SECONDS = 1.0
_IDLE_SECONDS = 60.0


class LeaseLostError(Exception):
    """The worker cannot use the store of a run: its lease, an answer, or the files of the suite."""


def end_run(run_store: str) -> None:
    """End the trials of a run on this worker; returns immediately."""
    run = _runs.get(run_store)
    if run is not None:
        threading.Thread(target=run.cancellation.request, daemon=True).start()


def reach_limit(run_store: str, reason: str) -> None:
    """End the calls of a run on this worker, for its budget is spent; returns immediately."""
    run = _runs.get(run_store)
    if run is not None:
        threading.Thread(target=run.reach_limit, args=(reason,), daemon=True).start()


def end_pass(run_store: str, baseline: bool) -> None:
    """End what was started on this worker for one pass of a run; returns immediately."""
    run = _runs.get(run_store)
    _prepared.pop((run_store, baseline), None)
    if run is not None:
        threading.Thread(target=run.close_host, args=(baseline,), daemon=True).start()


def why_not_read(run_store: str, suite: str, nonce: str) -> str:
    """Return why this worker cannot read what the coordinator wrote to the store of a run, "" if it can."""
    try:
        return "" if run_store_at(run_store, Path(suite)).has(nonce) else "it is not there"
    except (OSError, ImportError) as error:
        return str(getattr(error, "strerror", None) or error)


def run_store_at(name: str, suite: Path) -> RunStore:
    """Return the store of a name: a folder of a suite, or one in an object store. Raises ``OSError``."""
    if "://" not in name:
        return FolderRunStore(Path(name), suite_boundary(suite))
    from waza_engine.cluster.object_run_store import ObjectRunStore

    return ObjectRunStore(name)


def close_runs() -> None:
    """End the trials of all runs, and all that was started for them."""
    runs = [_runs.pop(run_store) for run_store in tuple(_runs)]
    for run in runs:
        # Others execute the trials that have paid for nothing.
        run.fail("the worker was ended")
        run.close()


WORKER = f"{platform.node()}-{os.getpid()}-{secrets.token_hex(3)}"
"""The name of this process in claims."""
_runs: dict[str, ActiveRun] = {}
_prepared: dict[tuple[str, bool], set[tuple[str, int]]] = {}
"""The tasks before which this process has run the hooks, by the store of the run, with skills or without."""
_creating = threading.Lock()


class ActiveRun:
    """A run on this worker. ``failure`` says why its trials were ended before their time."""

    def __init__(self, message: Block) -> None:
        self.run_id = text_of(message["run"])
        self.run_store = run_store_at(text_of(message["place"]), Path(text_of(message["suite"])))
        self.cancellation = RunCancellation()
        self.failure = ""
        self._suite, self._started_in = Path(text_of(message["suite"])), Path(text_of(message["started_in"]))
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

    def host(self, request: Request, bundle: str) -> Host:
        """Return the host of the trials with skills, or without; it is created once.

        ``bundle`` is that of the message. Raises ``LeaseLostError`` when its files cannot be fetched.
        """
        with self._loading:
            found = self._hosts.get(request.baseline)
            if found is None:
                try:
                    settings = self._settings(request, bundle)
                    found = Host(
                        self.run_id,
                        settings,
                        self.cancellation,
                        file=request.file,
                        baseline=request.baseline,
                        started_in=self._directory_of(settings),
                        prepared=_prepared.setdefault((self.run_store.name, request.baseline), set()),
                    )
                except (SuiteError, SuiteFileError, ExecutorError) as error:
                    found = error
                self._hosts[request.baseline] = found
        if isinstance(found, Exception):
            raise found
        return found

    def _directory_of(self, settings: RunSettings) -> Path:
        """Return the directory in which the run was started, that of the suite if this machine has none."""
        directory = settings.path.parent
        if directory == self._suite:
            return self._started_in
        run_store = directory / os.path.relpath(self._started_in, self._suite)
        return run_store if suite_boundary(directory).holds(run_store) else directory

    def _settings(self, request: Request, bundle: str) -> RunSettings:
        if not bundle:
            return request.settings
        try:
            manifest = self.run_store.content(manifest_name(bundle))
            return settings_on_worker(
                request.settings, manifest, lambda: self.run_store.content(content_name(bundle))
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
            self.fail(f"{self.run_store.name} could not be written for too long")
        # A store that does not answer would only delay the next renewal.
        if is_reached and (self.run_store.is_stopped or not self.run_store.is_there):
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
        self.run_store.write_lease(WORKER, {"machine": platform.node(), "process": this_process()})
        self._renewed = time.monotonic()


def active_run(message: Block) -> ActiveRun:
    """Return the run of a message; a new one if the worker could not use the store for too long."""
    run_store = text_of(message["place"])
    with _creating:
        if not _runs:
            threading.Thread(target=_look_after_runs, name="leases", daemon=True).start()
        run = _runs.get(run_store)
        if run is None or run.failure:
            if run is not None:
                threading.Thread(target=run.close, daemon=True).start()
            run = _runs[run_store] = ActiveRun(message)
        return run


def _look_after_runs() -> None:
    """Renew leases, and end runs that were stopped or abandoned, until no run is left."""
    while True:
        time.sleep(_CHECK_SECONDS)
        for run_store, run in tuple(_runs.items()):
            if not run.look() and _runs.pop(run_store, None) is not None:
                run.close()
        with _creating:
            if not _runs:
                return
