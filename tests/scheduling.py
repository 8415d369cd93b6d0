"""Which process of a parallel run gets which tests.

pytest-xdist's own ``loadgroup`` has no effect with pytest 9.2: the group that it adds to a test's id is lost.
"""

from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling

VSCODE = "tests/vscode/"


class OneVSCode(LoadFileScheduling):
    """Keeps the tests of a file in one process, and so all that drive a VS Code: two at a time are slow."""

    def _split_scope(self, nodeid: str) -> str:
        return VSCODE if nodeid.startswith(VSCODE) else super()._split_scope(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling | None:
    """Schedule by files with one VS Code at a time, unless the command line wants another way."""
    return OneVSCode(config, log) if config.getoption("dist") == "loadfile" else None
