"""The quicker start: compiled code is kept, and nothing depends on it."""

from __future__ import annotations

import marshal
import os
import subprocess
import sys
from importlib.util import MAGIC_NUMBER
from pathlib import Path

import pytest

from tests.protocol.started_server import CAN_START

pytestmark = pytest.mark.check

LOAD = """
import sys
from waza_language_server.protocol.quick_start import KeptCode
code = KeptCode({path!r})
found = len(code.known)
code.use()
from lsprotocol import types
position = types.Position(1, 2)
assert position == types.Position(1, 2) and repr(position) == "1:2" and types.Position(0, 1) < position
code.keep()
print(found, len(code.known))
"""


def load(path: Path, *options: str) -> tuple[int, int]:
    """Load the protocol library; return how much compiled code was found and how much there is now."""
    command = [sys.executable, *options, "-c", LOAD.format(path=str(path))]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=240, env=environment)
    found, known = done.stdout.split()
    return int(found), int(known)


def test_what_was_compiled_is_found_at_the_next_start(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "kept"
    found, known = load(path)
    assert found == 0
    assert known > 500
    assert load(path) == (known, known)


LISTED = MAGIC_NUMBER + marshal.dumps(["text"])


@pytest.mark.parametrize("content", [b"", b"\xff" * 100, b"\xa7\r\r\n", b"text", MAGIC_NUMBER, LISTED])
def test_a_damaged_file_is_written_again(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "kept"
    path.write_bytes(content)
    assert load(path)[0] == 0
    assert load(path)[0] > 500


def test_a_truncated_file_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    load(path)
    path.write_bytes(path.read_bytes()[:5000])
    assert load(path)[0] == 0
    assert load(path)[0] > 500


def test_what_is_no_code_is_compiled_again(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    load(path)
    known = marshal.loads(path.read_bytes()[len(MAGIC_NUMBER) :])
    path.write_bytes(MAGIC_NUMBER + marshal.dumps(dict.fromkeys(known, "text")))
    assert load(path) == (len(known), len(known))
    assert "text" not in marshal.loads(path.read_bytes()[len(MAGIC_NUMBER) :]).values()


@pytest.mark.skipif(sys.platform == "win32", reason="limits the size of files")
def test_a_full_disk_keeps_no_part_of_it(tmp_path: Path) -> None:
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))"
    command = [sys.executable, "-c", f"{limit}\n{LOAD.format(path=str(tmp_path / 'kept'))}"]
    subprocess.run(command, capture_output=True, check=True, timeout=240)
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_costs_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    assert load(tmp_path / "file" / "kept")[1] > 500


def test_nothing_is_written_when_python_was_told_so(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    load(path, "-B")
    assert not path.exists()


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
