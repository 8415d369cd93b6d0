"""The processes of a cluster: a worker, which executes trials, and the scheduler, which hands them out."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import dask.config
from distributed import Scheduler, Worker, get_worker

from waza_engine.cluster.certificates import security_of
from waza_engine.cluster.dask_settings import apply_settings
from waza_engine.cluster.machine_versions import hello, resource_of
from waza_engine.cluster.steps import execute_step
from waza_engine.cluster.worker_runs import WORKER, close_runs
from waza_engine.results.json_values import Block, Json
from waza_engine.results.result_file_names import workspace_prefix
from waza_engine.terminal import complain, say

if TYPE_CHECKING:
    from distributed.security import Security

WORKS = "works for"
"""A worker prints this when it is ready, after its name."""
_JOIN_SECONDS = 10.0
_CLOSING_SECONDS = 5.0


def execute_in_dask(message: Block) -> None:
    """Execute a trial in a thread of a worker."""
    # `get_worker` finds the worker by the thread, and judges and graders have threads of their own.
    worker, topic = get_worker(), message["topic"]

    def send(event: Json) -> None:
        worker.log_event(topic, event)

    execute_step({**message, "address": worker.address}, send)


async def offer_slots(resource: str, dask_worker: Worker) -> Mapping[str, str]:
    """Let a worker that Dask has started take trials, if its versions are ours; return its versions."""
    versions = hello()
    if resource_of(versions) == resource:
        await dask_worker.set_resources(**{resource: dask_worker.state.nthreads})
    return versions


def serve_worker(address: str, certificates: Path | None, slots: int) -> None:
    """Work for the scheduler at an address, with ``slots`` trials at a time; return when it is ended.

    Raises ``SuiteError`` without certificates, ``OSError`` when the scheduler cannot be reached.
    """
    apply_settings()
    security = security_of(certificates, address)
    # Named as a workspace: who removes those of a killed worker removes this as well.
    prefix = workspace_prefix(os.getpid())
    above: str | None = dask.config.get("temporary-directory")
    with tempfile.TemporaryDirectory(prefix=prefix, dir=above, ignore_cleanup_errors=True) as folder:
        asyncio.run(_serve(address, security, slots, folder))


def serve_scheduler(address: str, certificates: Path | None) -> None:
    """Hand trials to workers until this is ended.

    Raises ``SuiteError`` without certificates, ``OSError`` when the address cannot be used.
    """
    apply_settings()
    security = security_of(certificates, address)
    with tempfile.TemporaryDirectory(prefix="waza-scheduler-", ignore_cleanup_errors=True) as folder:
        asyncio.run(_schedule(address, security, folder))


async def _schedule(address: str, security: Security | None, folder: str) -> None:
    ended = _on_signal()
    parts = urlsplit(address)
    scheduler = Scheduler(
        host=parts.hostname,
        port=parts.port,
        protocol=parts.scheme,
        security=security,
        dashboard=False,
        dashboard_address="127.0.0.1:0",
        local_directory=folder,
    )
    try:
        await scheduler
        say(f"the scheduler is at {scheduler.address}")
        await ended.wait()
    finally:
        await scheduler.close()


def _on_signal() -> asyncio.Event:
    """Return what is set when this process is asked to end."""
    ended = asyncio.Event()
    if sys.platform != "win32":
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, ended.set)
    return ended


async def _serve(address: str, security: Security | None, slots: int, folder: str) -> None:
    ended = _on_signal()
    worker = Worker(
        address,
        nthreads=slots,
        name=WORKER,
        resources={resource_of(hello()): slots},
        # A worker that was killed for its memory would lose all of its trials, and the system kills last.
        memory_limit=0,
        dashboard_address="127.0.0.1:0",
        security=security,
        # A connection without TLS must not be reached from elsewhere.
        host="127.0.0.1" if security is None else None,
        local_directory=folder,
    )
    ending, joining = asyncio.create_task(ended.wait()), asyncio.create_task(_joined(worker))
    try:
        first = asyncio.FIRST_COMPLETED
        done, _ = await asyncio.wait((ending, joining), timeout=_JOIN_SECONDS, return_when=first)
        if not done:
            complain(f"No scheduler answers at {address} so far; this worker waits for it.")
            await asyncio.wait((ending, joining), return_when=first)
        if ended.is_set():
            joining.cancel()
            return
        await joining
        say(f"{WORKER} {WORKS} {address}, {slots} at a time")
        finished = asyncio.create_task(worker.finished())
        await asyncio.wait((ending, finished), return_when=first)
    finally:
        await asyncio.to_thread(close_runs)
        await worker.close(timeout=_CLOSING_SECONDS)


async def _joined(worker: Worker) -> None:
    """Wait until a scheduler has accepted the worker; Dask waits for ever."""
    await worker
