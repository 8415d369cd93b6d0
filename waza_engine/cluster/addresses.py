"""``--cluster``: workers on this machine, or a scheduler that runs elsewhere. Light: no cluster is opened."""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from waza_engine.runs.loading.suite_on_disk import SuiteError

MOST_LOCAL_WORKERS = 64
_SCHEDULER = "the address of a scheduler, such as `tls://host:8786`"


@dataclass(frozen=True, slots=True)
class ClusterAddress:
    """Where trials run: ``local`` worker processes, the scheduler of an ``address``, or as a ``file`` says.

    ``certificates`` is the folder with those of TLS, None to use Dask's own settings.
    """

    local: int = 0
    address: str = ""
    file: Path | None = None
    certificates: Path | None = None


def cluster_address(written: str, certificates: Path | None = None) -> ClusterAddress:
    """Return the cluster that an option names. Raises ``SuiteError`` for one that cannot be used."""
    kind, colon, number = written.partition(":")
    if kind == "local" and certificates is None:
        count = number if colon else str(min(os.cpu_count() or 1, MOST_LOCAL_WORKERS))
        if not count.isdecimal() or not 1 <= int(count) <= MOST_LOCAL_WORKERS:
            raise SuiteError(f"`--cluster {written}`: write 1 to {MOST_LOCAL_WORKERS} workers.")
        return ClusterAddress(local=int(count))
    if written.endswith((".yaml", ".yml")):
        return ClusterAddress(file=Path(written), certificates=certificates)
    where, forms = f"`--cluster {written}`", f"`local:4`, {_SCHEDULER}, or a file `.yaml`"
    return ClusterAddress(address=checked_address(written, where, forms), certificates=certificates)


def checked_address(written: str, where: str, forms: str = _SCHEDULER) -> str:
    """Return the address of a scheduler; ``where`` names what has it, ``forms`` what can be written there.

    A scheduler executes whatever it is sent, so a connection without TLS is allowed on this machine alone.
    Raises ``SuiteError``.
    """
    try:
        parts = urlsplit(written)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
        parts = urlsplit("")
    if parts.scheme not in ("tcp", "tls") or not host or not port or parts.path or parts.username:
        raise SuiteError(f"{where} cannot be used; write {forms}.")
    if parts.scheme == "tcp" and not _is_loopback(host):
        raise SuiteError(
            f"{where} is not encrypted, and a scheduler executes whatever it is sent; "
            f"use `tls://{host}:{port}` with certificates."
        )
    return written


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
