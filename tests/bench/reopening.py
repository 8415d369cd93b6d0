"""A file that is opened again, unchanged: ours has kept what it found out in an earlier session."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from tests.bench.client import PATIENCE_SECONDS, Client, Cost


def reopened(
    command: list[str], suite: Path, document: dict[str, Any], settings: dict[str, Any], cache: Path | None
) -> Cost:
    """Return what it takes until the diagnostics come; without ``cache`` nothing is kept between sessions."""
    if cache is not None and not _is_kept(cache):
        _keep(command, suite, document, cache)
    client = Client(command, suite, settings, cache=str(cache or "off"))
    try:
        return client.timed_diagnostics(document["uri"], "textDocument/didOpen", {"textDocument": document})
    finally:
        client.close()


def _keep(command: list[str], suite: Path, document: dict[str, Any], cache: Path) -> None:
    client = Client(command, suite, {}, cache=str(cache))
    try:
        client.notify("textDocument/didOpen", {"textDocument": document})
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not _is_kept(cache):
            if time.monotonic() > deadline:
                raise TimeoutError("nothing was kept")
            time.sleep(0.05)
    finally:
        client.close()


def _is_kept(cache: Path) -> bool:
    return any(cache.glob("*.problems"))
