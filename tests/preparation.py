"""Begins to install what some tests need while the others run, so that a cold run does not wait for it twice.

Whoever needs an installation asks for it as if nobody had begun, and waits at its lock.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress

import psutil
import pytest

ROOMS = ("agents", "editors", "vscode")


_installing: dict[str, subprocess.Popen[bytes]] = {}


def pytest_sessionstart(session: pytest.Session) -> None:
    """Start to install for all rooms when all tests are to run: to collect them takes a minute."""
    config = session.config
    controls = config.getoption("dist", "no") != "no" and not hasattr(config, "workerinput")
    if controls and config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        _begin(ROOMS)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(ids: Iterable[str]) -> None:
    """Start to install for the rooms that have tests in this run; called in the process that controls it."""
    _begin({identifier.split("/")[1] for identifier in ids if identifier.count("/") > 1}.intersection(ROOMS))


def _begin(rooms: Iterable[str]) -> None:
    for room in sorted(set(rooms) - _installing.keys()):
        command = [sys.executable, "-m", "tests.preparation", room]
        # What goes wrong is told by the first test that needs it, which tries again.
        _installing[room] = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )


def pytest_sessionfinish() -> None:
    """End what nobody has waited for."""
    for installing in _installing.values():
        with suppress(psutil.NoSuchProcess):
            for process in [*psutil.Process(installing.pid).children(recursive=True), installing]:
                with suppress(psutil.NoSuchProcess):
                    process.kill()
        installing.wait()
    _installing.clear()


def _install(room: str) -> None:
    if room == "agents":
        from tests.agents.copilot import installed_copilot

        with suppress(pytest.skip.Exception):
            installed_copilot()
    elif room == "editors":
        from tests.editors.installed import install_editors

        install_editors()
    else:
        from tests.vscode.scenarios import NEEDS_VSCODE, install_vscode

        if not any(mark.args[0] for mark in NEEDS_VSCODE):
            install_vscode()


if __name__ == "__main__":
    _install(sys.argv[1])
