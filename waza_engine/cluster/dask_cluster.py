"""The connection of a run to its cluster: scheduler, workers, messages; local workers are started here."""

from __future__ import annotations

import contextlib
import os
import queue
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar, cast

from distributed import Client, Future, LocalCluster

from waza_engine.cluster.addresses import ClusterAddress
from waza_engine.cluster.certificates import make_certificates, security_of
from waza_engine.cluster.cluster_file import read_cluster_file, start_cluster
from waza_engine.cluster.dask_processes import execute_in_dask, offer_slots
from waza_engine.cluster.dask_settings import BackgroundErrors, apply_settings
from waza_engine.cluster.local_workers import SLOTS, LocalWorkers
from waza_engine.cluster.machine_versions import difference, hello, machine, resource_of
from waza_engine.cluster.run_store import FolderRunStore, RunStore
from waza_engine.cluster.shared_run_stores import SharedRunStores
from waza_engine.cluster.worker_runs import end_pass, end_run, reach_limit, why_not_read
from waza_engine.counting import counted
from waza_engine.results.json_values import Json
from waza_engine.results.reading.run_store_entries import LEASE_SECONDS
from waza_engine.results.result_file_names import workspace_prefix
from waza_engine.runs.limits.cancellation import RunCancellation, TooSlowError, call_bounded
from waza_engine.runs.loading.suite_on_disk import SuiteError

if TYPE_CHECKING:
    from distributed.security import Security

    from waza_engine.runs.trials.context import RunContext
    from waza_engine.runs.trials.selection import SelectedTask

_AnswerT = TypeVar("_AnswerT")
_TICK_SECONDS = 0.25
_REFRESH_SECONDS = 2.0
_OPEN_SECONDS = 30.0
# Jobs wait in a queue, and machines of a cloud start, for minutes.
_QUEUE_SECONDS = 600.0
# Longer than Dask waits for a worker.
_ANSWER_SECONDS = 60.0
_ENDING_SECONDS = 5.0


class ClusterBackend(Protocol):
    """The calls that a cluster makes to a backend, in its own thread."""

    grown: Callable[[], None]
    """Is called when there are more slots than before."""

    def look(self) -> None:
        """Look for what has become of the pending trials."""
        ...

    def break_off(self, why: str) -> None:
        """End all pending trials with an error."""
        ...


class DaskCluster:
    """A cluster that is open within ``with``. ``warn`` gets a sentence about each worker that is not used.

    Its calls for backends are made by one thread, one after the other.
    """

    def __init__(self, address: ClusterAddress, warn: Callable[[str], None], store: str = "") -> None:
        """``store`` is the address of an object store for the trials, "" for the folder of the suite."""
        apply_settings()
        self._errors = BackgroundErrors()
        self._address = address
        self._warn = warn
        self._resource = resource_of(hello())
        self._local: LocalWorkers | None = None
        self._client: Client | None = None
        self._scheduler = ""
        self._calls: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._backends: list[ClusterBackend] = []
        self._unfit: dict[str, str] = {}
        self._is_open = False
        self._is_closed = threading.Event()
        self._is_abandoned = threading.Event()
        self._is_adaptive = False
        self._patience_to_open = _OPEN_SECONDS
        self._slots = 0
        self._looked: tuple[float, Set[str]] = (0.0, frozenset())
        self._heard = 0.0
        self._seen = self._alive = 0.0
        self._closing = contextlib.ExitStack()
        self._run_stores = SharedRunStores(store, warn)
        self._closing.callback(self._run_stores.close)

    def __enter__(self) -> Self:
        """Open it. Raises ``SuiteError`` when it cannot be reached, or no worker can be used."""
        try:
            self._open()
        except BaseException:
            self._closing.close()
            raise
        return self

    def __exit__(self, *_error: object) -> None:
        self._closing.close()

    def abandon(self) -> None:
        """End the wait for workers, from any thread: nothing is to run on them any more."""
        self._is_abandoned.set()

    def open_store(self, tasks: Sequence[SelectedTask], context: RunContext) -> tuple[RunStore, str]:
        """Return the store of a run, and the digest of the bundle in it, "" when all workers see the files.

        Raises ``SuiteError`` when workers cannot see the suite.
        """
        return self._run_stores.open(tasks, context, self.check_reads)

    def begin_pass(self, backend: ClusterBackend) -> None:
        """Call a backend from now on, until ``end_pass``; returns immediately."""
        self.post(lambda: self._backends.append(backend))

    @property
    def slots(self) -> int:
        """Return how many trials the usable workers execute at a time."""
        return self._slots

    @property
    def room(self) -> int:
        """Return how many trials the cluster takes: what waits makes an adaptive one grow."""
        return self._slots * 2 if self._is_adaptive else self._slots

    @property
    def failure(self) -> str:
        """Return why no trial can begin any more, "" while they can."""
        is_closed = self._client is None or self._client.status in ("closed", "closing")
        if is_closed or time.monotonic() - self._heard > LEASE_SECONDS:
            return "the scheduler of the cluster does not answer"
        if not self._slots and time.monotonic() - self._alive > self._patience:
            return "no worker of the cluster is left"
        return ""

    @property
    def can_submit(self) -> bool:
        """Return whether the scheduler is connected: what is submitted meanwhile would never end."""
        return self._client is not None and self._client.status == "running"

    def post(self, call: Callable[[], None]) -> None:
        """Make a call in the thread of the cluster, after those that were posted before."""
        self._calls.put(call)

    def submit(self, message: Json, key: str, worker: str) -> Future:
        """Hand a trial to the scheduler, for the worker of an address, "" for any."""
        assert self._client is not None
        return self._client.submit(
            execute_in_dask,
            message,
            key=key,
            pure=False,
            retries=0,
            resources={self._resource: 1},
            workers=[worker] if worker else None,
        )

    def has_lost(self, worker: str, since: float) -> bool:
        """Return whether the worker of an address was not there after ``since``, in monotonic seconds."""
        looked, addresses = self._looked
        return looked > since and worker not in addresses

    def cancel(self, futures: Sequence[Future]) -> None:
        """Let trials that no worker has begun not begin; returns immediately."""
        self._in_background(lambda client: client.cancel(list(futures)))

    def listen(self, topic: str, heard: Callable[[Json], None]) -> None:
        """Call ``heard`` in the thread of the cluster with each event of a topic."""
        assert self._client is not None

        def handle(event: tuple[float, Json]) -> None:
            self.post(lambda: heard(event[1]))

        self._client.subscribe_topic(topic, handle)

    def end_run(self, run_store: str) -> None:
        """End the trials of a run on all workers; returns immediately."""
        self._in_background(lambda client: client.run(end_run, run_store, on_error="ignore"))

    def reach_limit(self, run_store: str, reason: str) -> None:
        """End the calls of a run on all workers; returns immediately."""
        self._in_background(lambda client: client.run(reach_limit, run_store, reason, on_error="ignore"))

    def end_pass(self, backend: ClusterBackend, run_store: str, *, baseline: bool) -> None:
        """End what workers started for the pass of a backend; returns immediately."""
        self.post(lambda: self._backends.remove(backend))
        self._in_background(lambda client: client.run(end_pass, run_store, baseline, on_error="ignore"))

    def described(self) -> list[str]:
        """Return a line about each worker that gets trials."""
        workers, found = self._workers(), self._on_usable(machine)
        self._slots = sum(workers.values())
        return [
            f"{address}: {counted(workers.get(address, 0), 'slot')}, {answer or 'it does not answer'}"
            for address, answer in found.items()
        ]

    def check_store(self) -> None:
        """Raise ``SuiteError`` when this machine or a worker cannot use the object store."""
        self._run_stores.check(self.check_reads)

    def check_reads(self, run_store: RunStore, suite: Path, nonce: str) -> None:
        """Raise ``SuiteError`` when a worker does not see the store of a run."""
        found = self._on_usable(why_not_read, run_store.name, str(suite), nonce)
        blind = [(address, why) for address, why in found.items() if why != ""]
        if not blind:
            return
        address, why = blind[0]
        if why is None:
            raise SuiteError(
                f"The worker {address} does not answer; restart it, or end it and wait a minute until the "
                "scheduler has noticed."
            )
        if isinstance(run_store, FolderRunStore):
            raise SuiteError(
                f"The worker {address} does not see {run_store.name}; it needs the folder of the suite at "
                "the same path, on a disk that both machines share. Without such a disk, use `--store`."
            )
        raise SuiteError(
            f"The worker {address} cannot use {run_store.name}: {why}; it needs the credentials and settings "
            "of the store in its own environment."
        )

    def _on_usable(self, call: Callable[..., str], *arguments: object) -> Mapping[str, str | None]:
        """Call a function on each worker that gets trials; return its results by address.

        None is that of a worker that did not answer. Raises ``SuiteError`` when the scheduler does not.
        """
        assert self._client is not None
        client = self._client

        def asked() -> Mapping[str, str | None]:
            usable = [address for address, slots in self._workers().items() if slots]
            found: Mapping[str, object] = client.run(call, *arguments, workers=usable, on_error="return")
            return {address: answer if isinstance(answer, str) else None for address, answer in found.items()}

        return self._answered(asked)

    def _answered(self, ask: Callable[[], _AnswerT]) -> _AnswerT:
        try:
            # Dask waits for ever for a scheduler that is frozen.
            return call_bounded(ask, _ANSWER_SECONDS, RunCancellation())
        except (TooSlowError, OSError, TimeoutError):
            raise SuiteError(f"The scheduler {self._scheduler} does not answer; restart it.") from None

    @property
    def _patience(self) -> float:
        """Return for how many seconds a run waits for workers since it has heard from the last one."""
        if self._local is not None and self._local.are_gone:
            return 0.0
        return _QUEUE_SECONDS if self._is_adaptive else LEASE_SECONDS

    def _started(self) -> tuple[str, Security | None]:
        """Start what is to be started; return the address of the scheduler and how to connect to it."""
        address, certificates, file = self._address.address, self._address.certificates, self._address.file
        if self._address.local:
            # Named as a workspace: it is removed with those of this process, should that be killed.
            prefix = workspace_prefix(os.getpid())
            folder = self._closing.enter_context(tempfile.TemporaryDirectory(prefix=prefix))
            certificates = Path(folder, "certificates")
            make_certificates(certificates)
            security = security_of(certificates, "tls:")
            scheduler = LocalCluster(
                n_workers=0,
                host="127.0.0.1",
                protocol="tls://",
                security=security,
                dashboard_address="127.0.0.1:0",
                scheduler_kwargs={"dashboard": False, "local_directory": folder},
                silence_logs=False,
            )
            self._closing.callback(scheduler.close, _ENDING_SECONDS)
            address = str(scheduler.scheduler_address)
            self._local = LocalWorkers(self._address.local, address, certificates, folder)
            self._closing.callback(self._local.close)
            self._local.start()
            return address, security
        if file is None:
            return address, security_of(certificates, address)
        described = read_cluster_file(file)
        security = None if certificates is None else security_of(certificates, "tls:")
        cluster = start_cluster(described, security)
        self._closing.callback(_quietly, cluster.close)
        self._patience_to_open = _QUEUE_SECONDS
        self._is_adaptive = bool(described.adapt)
        return str(cluster.scheduler_address), cluster.security

    def _open(self) -> None:
        address, security = self._started()
        try:
            client = Client(address, security=security, set_as_default=False, timeout=_OPEN_SECONDS)
        except (OSError, TimeoutError, ValueError) as error:
            raise SuiteError(f"The scheduler {address} cannot be reached: {_reason(error)}.") from None
        self._client, self._scheduler = client, address
        self._closing.callback(_quietly, client.close, _ENDING_SECONDS)
        self._await_workers(address)
        self._heard = time.monotonic()
        for work in (self._work, self._watch):
            threading.Thread(target=work, name="cluster", daemon=True).start()
        self._closing.callback(self._calls.put, None)
        self._closing.callback(self._is_closed.set)

    def _await_workers(self, address: str) -> None:
        """Wait until all local workers are there, or one of a scheduler. Raises ``SuiteError``."""
        wanted = self._address.local * SLOTS or 1
        began, is_told = time.monotonic(), False
        deadline = began + self._patience_to_open
        while True:
            self._answered(self._refresh)
            if self._slots >= wanted or (self._slots and time.monotonic() > deadline):
                break
            if self._local is not None and self._local.are_gone:
                raise SuiteError(f"The workers cannot be started: {self._local.last_words()}")
            if self._unfit:
                raise SuiteError(*self._unfit.values())
            file = self._address.file
            if file is not None and self._errors.last:
                raise SuiteError(f"{file}: no worker can be started: {self._errors.last}.")
            if time.monotonic() > deadline:
                advice = (
                    "`waza-engine worker` starts one" if file is None else f"{file} starts none that joins"
                )
                raise SuiteError(f"{address} has no worker; {advice}.")
            if time.monotonic() > began + _OPEN_SECONDS and not is_told:
                self._warn(f"No worker has joined yet; the run waits {deadline - began:.0f} seconds for one.")
                is_told = True
            if self._is_abandoned.wait(_TICK_SECONDS):
                raise SuiteError("The run was ended before a worker had joined.")
        self._is_open = True
        for sentence in self._unfit.values():
            self._warn(sentence)

    def _workers(self) -> Mapping[str, int]:
        """Return the slots of each worker by its address, 0 of one that takes no trials."""
        assert self._client is not None
        now = time.monotonic()
        workers: Mapping[str, Any] = self._client.scheduler_info(n_workers=-1)["workers"]
        self._looked = now, frozenset(workers)
        found = {name: int(worker["resources"].get(self._resource, 0)) for name, worker in workers.items()}
        # The scheduler misses a machine that is gone half a minute later, and its clock may be another.
        seen = max((workers[name]["last_seen"] for name, slots in found.items() if slots), default=self._seen)
        if seen > self._seen:
            self._seen, self._alive = seen, now
        return found

    def _refresh(self) -> None:
        """Count the slots, and report workers that get no trial."""
        client = self._client
        if client is None or not self.can_submit:
            return
        workers = self._workers()
        before, self._slots = self._slots, sum(workers.values())
        if self._slots > before:
            for backend in self._backends:
                backend.grown()
        for address in {name for name, slots in workers.items() if not slots} - self._unfit.keys():
            found = client.run(offer_slots, self._resource, workers=[address], on_error="return").get(address)
            sentence = f"The worker {address} has no waza-engine of this version; install the same on both."
            if isinstance(found, Mapping):
                sentence = difference(address, cast("Mapping[str, str]", found))
            if not sentence:
                continue
            self._unfit[address] = sentence
            if self._is_open:
                self._warn(sentence)

    def _in_background(self, call: Callable[[Client], object]) -> None:
        client = self._client

        def work() -> None:
            # Workers that do not answer are noticed by their leases.
            with contextlib.suppress(Exception):
                if client is not None and client.status == "running":
                    call(client)

        threading.Thread(target=work, daemon=True).start()

    def _work(self) -> None:
        """Make the calls that were posted; now and then, let backends look at their trials."""
        looked = time.monotonic()
        while True:
            call: Callable[[], None] | None = None
            with contextlib.suppress(queue.Empty):
                call = self._calls.get(timeout=_TICK_SECONDS)
                if call is None:
                    return
            try:
                if call is not None:
                    call()
                if time.monotonic() - looked > _TICK_SECONDS:
                    for backend in tuple(self._backends):
                        backend.look()
                    looked = time.monotonic()
            except Exception as error:  # noqa: BLE001 - a defect of ours must not leave a run without an end
                for backend in tuple(self._backends):
                    backend.break_off(f"the cluster broke: {type(error).__name__}: {error}")

    def _watch(self) -> None:
        """Count workers, and replace those on this machine; a scheduler that hangs stops only this."""
        while not self._is_closed.wait(_REFRESH_SECONDS):
            if self._local is not None:
                self._local.replace_ended()
            # The next time may succeed; if none does, that is a failure of the cluster.
            with contextlib.suppress(Exception):
                self._refresh()
                if self.can_submit:
                    self._heard = time.monotonic()


def _quietly(close: Callable[..., object], *arguments: object) -> None:
    # Dask raises what it likes for workers that did not start.
    with contextlib.suppress(Exception):
        close(*arguments)


def _reason(error: Exception) -> str:
    text = str(error)
    if "certificate" in text.lower():
        return "it has other certificates; copy the folder of `--tls` from there"
    if "reset" in text or "closed" in text.lower():
        return "it closes the connection; write `tls://` for one with certificates"
    return "nothing answers there"
