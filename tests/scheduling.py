"""Which process of a parallel run gets which tests."""

from __future__ import annotations

import os
from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling

ONE_AT_A_TIME = "tests/vscode/"
"""Where tests drive a VS Code, several minutes one after the other: with them a run begins."""


class _OneVSCode(LoadFileScheduling):
    """The tests of a file stay together, and so do all that drive a VS Code: two of them at a time are slow.

    The others need the second processor meanwhile.
    """

    def _split_scope(self, nodeid: str) -> str:
        return ONE_AT_A_TIME if nodeid.startswith(ONE_AT_A_TIME) else super()._split_scope(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling | None:
    """Schedule by files with one VS Code at a time; another way of the command line stays as it is."""
    return _OneVSCode(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Run one process more than there are processors: agents, windows and time limits are waited for."""
    return (os.cpu_count() or 1) + 1
