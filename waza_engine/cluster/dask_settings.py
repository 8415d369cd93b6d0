"""Settings of Dask for the processes of a cluster."""

from __future__ import annotations

import logging
from collections.abc import Mapping

import dask.config

_SETTINGS: Mapping[str, object] = {
    # A trial is not run again without asking: the coordinator alone knows whether it was paid.
    "distributed.scheduler.allowed-failures": 0,
    # A worker that hangs gets no more trials; its lease is over by then.
    "distributed.scheduler.worker-ttl": "30s",
    "distributed.scheduler.http.routes": list[str](),
    "distributed.worker.http.routes": list[str](),
    "distributed.worker.profile.enabled": False,
    # So many messages of each connection stay in memory, with their trials, and nothing reads them.
    "distributed.admin.low-level-log-length": 10,
}


def apply_settings() -> None:
    """Apply them to this process; call it before a scheduler, a worker or a client is created."""
    dask.config.set(_SETTINGS)
    # The run reports what goes wrong in a cluster.
    for name in ("distributed", "distributed.client", "distributed.gc", "tornado"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


class BackgroundErrors(logging.Handler):
    """Keeps the ``last`` error of a background task of Dask instead of printing it, "" without one.

    Dask reports a job that cannot be submitted in its log alone.
    """

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.last = ""
        logger = logging.getLogger("tornado.application")
        logger.handlers[:], logger.propagate = [self], False

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the error of a record."""
        if record.exc_info and record.exc_info[1] is not None:
            self.last = " ".join(str(record.exc_info[1]).split())
