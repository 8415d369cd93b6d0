"""The classes of the protocol wait until they are wanted, and are then what they are in any other program."""

import subprocess
import sys

import pytest

from tests.protocol.started_server import CAN_START

pytestmark = pytest.mark.check

LATER = """
from waza_language_server.protocol.later_classes import classes_made_later
with classes_made_later():
    pass
"""
AT_ONCE = """
from lsprotocol.converters import get_converter
get_converter()
"""
DESCRIBE = """
import re
import attrs
from lsprotocol import types
for name, cls in types.ALL_TYPES_MAP.items():
    if isinstance(cls, type) and attrs.has(cls):
        for field in attrs.fields(cls):
            said = (field.type, field.default, field.validator, field.kw_only, field.eq, field.init)
            print(name, field.name, *(re.sub("0x[0-9a-f]+", "", repr(each)) for each in said))
        print(name, cls.__match_args__, cls.__doc__, cls.__hash__)
"""
MADE = """
def made():
    written = (cls for cls in vars(types).values() if isinstance(cls, type))
    return sorted(cls.__name__ for cls in written if isinstance(vars(cls).get("__attrs_attrs__"), tuple))
"""


def said(program: str) -> str:
    """Return what a program of its own prints: here the protocol library is loaded already."""
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=240).stdout


def test_every_class_is_what_it_is_elsewhere() -> None:
    described = said(LATER + DESCRIBE)
    assert described.count("\n") > 1_000
    assert described == said(AT_ONCE + DESCRIBE)


def test_a_class_is_made_when_somebody_wants_it() -> None:
    program = f"""{LATER}
from lsprotocol import types
{MADE}
print(made())
types.Range(types.Position(1, 2), types.Position(1, 3))
print(made())
"""
    assert said(program).splitlines() == ["[]", "['Position', 'Range']"]


def test_objects_are_compared_shown_and_refused_as_ever() -> None:
    program = f"""{LATER}
from lsprotocol import types
at = types.Position(1, 2)
assert at == types.Position(1, 2) and types.Position(0, 9) < at and repr(at) == "1:2"
assert types.Location("a", types.Range(at, at)) == types.Location("a", types.Range(at, at))
print(repr(types.Command("Run", "run")))
for wrong in (lambda: types.Position(-1, 2), lambda: types.Position(1), lambda: types.Command(titel="Run")):
    try:
        wrong()
    except (TypeError, ValueError) as error:
        print(str(error).partition(". Did you mean")[0])
at.line = -1
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=240
    )
    assert done.stdout.splitlines() == [
        "Command(title='Run', command='run', tooltip=None, arguments=None)",
        "Position.line should be in range [0:2147483647], but was -1.",
        "Position.__init__() missing 1 required positional argument: 'character'",
        "Command.__init__() got an unexpected keyword argument 'titel'",
    ]
    assert done.stderr.splitlines()[-1].startswith("ValueError: Position.line should be in range")


def test_messages_are_read_and_written_as_ever() -> None:
    convert = """
import json
from pygls.protocol import default_converter
from lsprotocol import types
converter = default_converter()
place = {"start": {"line": 1, "character": 2}, "end": {"line": 1, "character": 2}}
changes = [{"range": place, "text": "x"}, {"text": "y"}]
given = {"textDocument": {"uri": "file:///a", "version": 3}, "contentChanges": changes}
params = converter.structure(given, types.DidChangeTextDocumentParams)
print(params)
print(json.dumps(converter.unstructure(params)))
"""
    assert said(LATER + convert) == said(convert)


def test_a_server_makes_few_of_them() -> None:
    program = f"""
from waza_language_server.protocol.later_classes import classes_made_later
with classes_made_later():
    from waza_language_server.protocol.server import create_server
server = create_server()
from lsprotocol import types
{MADE}
assert 10 < len(made()) < 60, made()
"""
    assert said(program) == ""


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
