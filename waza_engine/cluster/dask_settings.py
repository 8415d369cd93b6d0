"""Settings of Dask for the processes of a cluster."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from distributed import config

_SETTINGS: Mapping[str, object] = {
    # A trial is not run again without asking: the coordinator alone knows whether it was paid.
    "distributed.scheduler.allowed-failures": 0,
    # A worker that hangs gets no more trials; its lease is over by then.
    "distributed.scheduler.worker-ttl": "30s",
    "distributed.scheduler.work-stealing": False,
    "distributed.scheduler.http.routes": (),
    "distributed.worker.http.routes": (),
    "distributed.worker.profile.enabled": False,
    "distributed.admin.low-level-log-length": 1000,
}


def apply_settings() -> None:
    """Apply them to this process; call it before a scheduler, a worker or a client is created."""
    config.set(_SETTINGS)
    # The run reports what goes wrong in a cluster.
    for name in ("distributed", "distributed.client", "distributed.gc", "tornado"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
