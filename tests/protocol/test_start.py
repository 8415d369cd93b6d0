"""Each handler can be loaded first."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.protocol.started_server import CAN_START

pytestmark = pytest.mark.check

# Those that tests talk to have loaded all of them (``loaded_server.py``).
LOADS_EACH_FIRST = """
import os
from importlib import import_module
from pkgutil import iter_modules
from waza_language_server.cli import load_server

load_server()
from waza_language_server.protocol import handlers

for module in iter_modules(handlers.__path__, f"{handlers.__name__}."):
    process = os.fork()
    if process == 0:
        import_module(module.name)
        os._exit(0)
    assert os.waitpid(process, 0)[1] == 0, module.name
"""


@pytest.mark.skipif(not CAN_START, reason="a process that has loaded libraries may not fork")
def test_whichever_handler_is_wanted_first_can_be_loaded() -> None:
    subprocess.run([sys.executable, "-c", LOADS_EACH_FIRST], check=True)
