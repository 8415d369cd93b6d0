"""Clusters on the command line: ``--cluster`` of a run, ``worker``, ``cluster certificates``."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from waza_engine.boundary import suite_boundary
from waza_engine.counting import counted
from waza_engine.executors.executor_types import installing, missing_packages
from waza_engine.files import create_file
from waza_engine.results.conclusion import NOT_RUN
from waza_engine.results.writing.store import stored_run_folders
from waza_engine.runs.limits.cancellation import call_bounded
from waza_engine.runs.loading.discovery import eval_files_of
from waza_engine.runs.loading.suite_on_disk import SuiteError
from waza_engine.runs.trials.backend import BackendFactory, ThreadBackend, TrialBackend
from waza_engine.terminal import complain, say

if TYPE_CHECKING:
    from waza_engine.cluster.addresses import ClusterAddress
    from waza_engine.cluster.dask_cluster import DaskCluster
    from waza_engine.runs.trials.context import RunContext
    from waza_engine.runs.trials.selection import SelectedTask


class ChosenCluster:
    """The cluster of ``--cluster``, or the threads of this process without it.

    Raises ``SuiteError`` for one that cannot be used. Nothing is started or imported before ``opened``,
    or the first trial of a run that is executed within ``opened_by_a_run``.
    """

    def __init__(
        self,
        written: str | None,
        certificates: Path | None,
        store: str | None = None,
        *,
        resumes: bool = False,
    ) -> None:
        """``store`` is where workers find their trials and the suite, None for the folder of the suite."""
        self._address: ClusterAddress | None = None
        self._store = ""
        self._cluster: DaskCluster | None = None
        self._closing = contextlib.ExitStack()
        self._opening = threading.Lock()
        self._is_closed = False
        self.backend: BackendFactory = ThreadBackend
        if store is not None:
            if written is None and not resumes:
                raise SuiteError("`--store` goes with `--cluster`, or with `--resume`; add one of them.")
            _check_packages("--store")
            from waza_engine.cluster.object_run_store import checked_store

            self._store = checked_store(store)
        if written is None:
            if certificates is not None:
                raise SuiteError("`--tls` goes with `--cluster`; name the cluster as well.")
            return
        _check_packages("--cluster")
        from waza_engine.cluster.addresses import cluster_address

        self._address = cluster_address(written, certificates)
        self.backend = self._backend_later

    def fetch(self, paths: Sequence[Path]) -> None:
        """Fetch what is left of killed runs of suites in the store, before one of them is resumed.

        Raises ``SuiteError`` when such a run has its trials in another store, or they cannot be read.
        """
        for directory in {eval_file.parent for eval_file in eval_files_of(paths)}:
            within = suite_boundary(directory)
            for folder in stored_run_folders(directory):
                _check_packages("--store")
                from waza_engine.cluster.stored_run_folders import fetch_run_store

                fetch_run_store(folder, self._store, within)

    @contextlib.contextmanager
    def opened(self) -> Generator[DaskCluster | None]:
        """Hold the cluster open, None for threads. Raises ``SuiteError`` when it cannot be opened."""
        if self._address is None:
            yield None
            return
        from waza_engine.cluster.dask_cluster import DaskCluster

        with DaskCluster(self._address, complain, self._store) as cluster:
            self._cluster = cluster
            yield cluster

    @contextlib.contextmanager
    def opened_by_a_run(self) -> Generator[None]:
        """Let a run open the cluster at its first trial, so that its events report errors."""
        try:
            yield
        finally:
            with self._opening:
                self._is_closed = True
            self._closing.close()

    def _backend_later(self, tasks: Sequence[SelectedTask], context: RunContext) -> TrialBackend:
        if self._cluster is None:
            self._cluster = call_bounded(
                lambda: self._open(context), threading.TIMEOUT_MAX, context.cancellation
            )
        from waza_engine.cluster.dask_backend import backends_of

        return backends_of(self._cluster)(tasks, context)

    def _open(self, context: RunContext) -> DaskCluster:
        from waza_engine.cluster.dask_cluster import DaskCluster

        def warn(sentence: str) -> None:
            context.progress.stream.send("output", message=f"warning: {sentence}")

        assert self._address is not None
        cluster = DaskCluster(self._address, warn, self._store)
        context.cancellation.on_request(cluster.abandon)
        with contextlib.ExitStack() as opened:
            opened.enter_context(cluster)
            with self._opening:
                # Nobody waits any more when the run was cancelled meanwhile.
                if not self._is_closed:
                    self._closing = opened.pop_all()
        return cluster


def worker_command(address: str, certificates: Path | None, slots: int) -> int:
    """Work for a scheduler until that or this process is ended; return the exit code."""

    def serve() -> None:
        from waza_engine.cluster.addresses import checked_address
        from waza_engine.cluster.dask_processes import serve_worker

        serve_worker(checked_address(address, f"`{address}`"), certificates, slots)

    return _exit_code("worker", serve)


def scheduler_command(address: str, certificates: Path | None) -> int:
    """Hand trials to workers until this process is ended; return the exit code."""

    def serve() -> None:
        from waza_engine.cluster.addresses import checked_address
        from waza_engine.cluster.dask_processes import serve_scheduler

        serve_scheduler(checked_address(address, f"`{address}`"), certificates)

    return _exit_code("cluster scheduler", serve)


def check_command(written: str, certificates: Path | None, store: str | None) -> int:
    """Open a cluster and print what it can do; return the exit code."""

    def check() -> None:
        with ChosenCluster(written, certificates, store).opened() as cluster:
            assert cluster is not None
            for worker in cluster.described():
                say(worker)
            if store is not None:
                cluster.check_store()
                say(f"{store}: all workers can use it")
            say(f"{written}: {counted(cluster.slots, 'trial')} at a time")

    return _exit_code("cluster check", check)


def image_command(file: Path | None) -> int:
    """Write the recipe of an image for workers, or print it; return the exit code."""

    def make() -> None:
        from waza_engine.cluster.image import image_recipe

        if file is None:
            for line in image_recipe().splitlines():
                say(line)
            return
        try:
            with create_file(file) as created:
                created.write(image_recipe().encode())
        except FileExistsError:
            raise SuiteError(f"{file} is there already; name another file.") from None
        say(f"{file} is written; build it with: docker build --tag waza-worker --file {file} .")

    return _exit_code("cluster image", make)


def certificates_command(folder: Path) -> int:
    """Make the certificates of a cluster; return the exit code."""

    def make() -> None:
        from waza_engine.cluster.certificates import make_certificates

        make_certificates(folder)
        say(f"{folder} has the certificates; copy it to each machine of the cluster, and to nobody else.")

    return _exit_code("cluster certificates", make)


def _exit_code(command: str, call: Callable[[], None]) -> int:
    try:
        _check_packages(command)
        call()
    except (SuiteError, OSError) as error:
        complain(str(error))
        return NOT_RUN
    return 0


def _check_packages(what: str) -> None:
    if missing := missing_packages("scale"):
        raise SuiteError(f"`{what}` needs more packages; `{installing(missing)}` adds them.")
