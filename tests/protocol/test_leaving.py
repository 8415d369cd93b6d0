"""The server ends when it is told to, when its client is gone, when the system asks: soon and for good."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.patience import ON_A_BUSY_MACHINE
from tests.protocol.editor import TASK, write_suite
from tests.protocol.raw_client import (
    PATIENCE_SECONDS,
    RawClient,
    framed,
    introduction,
    message,
    running_server,
)

pytestmark = pytest.mark.check

SUITE = "name: explains\nskill: explainer\nconfig: {executor: mock}\ntasks: []\ngraders:\n"
PLUG_IN = SUITE + "  - type: of_a_plug_in\n    name: asks\n"
HANGS = "  - type: program\n    name: hangs\n    config: {command: sleep, args: ['600'], timeout: 600}\n"
RUNS = SUITE.replace("[]", '["tasks/*.yaml"]') + HANGS

WITHIN_SECONDS = 2.0

HOVERS = """
import sys, time
from waza_language_server.protocol.handlers import hover
def handle(*_):
    sys.stderr.write("busy\\n")
    {}
hover.hover = handle
"""
SLEEPS = HOVERS.format("time.sleep(600)")
LOOPS = HOVERS.format("while True: pass")
WRITES = HOVERS.format("return 'x' * 10_000_000")
HOVER = {"textDocument": {"uri": "file:///x.yaml"}, "position": {"line": 0, "character": 0}}


def exit_in_order(client: RawClient) -> None:
    client.write(framed(message("shutdown", id="bye"), message("exit")))


def exit_at_once(client: RawClient) -> None:
    client.send("exit")


def end_of_input(client: RawClient) -> None:
    client.end_of_input()


def signalled(name: str) -> Callable[[RawClient], None]:
    def send(client: RawClient) -> None:
        client.process.send_signal(getattr(signal, name))

    send.__name__ = name
    return send


def killed(client: RawClient) -> None:
    client.process.kill()


WAYS = [
    (exit_in_order, 0),
    (exit_at_once, 1),
    (end_of_input, 1),
    (signalled("SIGTERM"), 128 + 15),
    (signalled("SIGINT"), 128 + 2),
    (signalled("SIGHUP"), 128 + 1),
    (killed, -9),
]
every_way = pytest.mark.parametrize(("leave", "code"), WAYS, ids=[leave.__name__ for leave, _ in WAYS])


def assert_leaves(client: RawClient, leave: Callable[[RawClient], None], code: int) -> None:
    """Leave, and wait for the end of the server and of everything that it has started."""
    others = client.family()[1:]
    started = time.monotonic()
    leave(client)
    ended_with = client.process.wait(WITHIN_SECONDS + ON_A_BUSY_MACHINE)
    rest = started + WITHIN_SECONDS + ON_A_BUSY_MACHINE - time.monotonic()
    _, alive = psutil.wait_procs(others, max(rest, 0.1))
    assert not alive, client.log
    assert ended_with == code
    assert "Traceback" not in client.log


def started_engine(client: RawClient) -> psutil.Process:
    """Wait for the engine, which has only just been started, and return it."""
    while len(family := client.family()) < 2:
        time.sleep(0.002)
    return family[1]


def is_called(process: psutil.Process, name: str) -> bool:
    try:
        return process.name() == name
    except psutil.NoSuchProcess:
        return False


@every_way
def test_while_the_engine_starts_for_a_run(
    leave: Callable[[RawClient], None], code: int, tmp_path: Path
) -> None:
    suite = write_suite(tmp_path, RUNS, one=TASK)
    with RawClient() as client:
        client.initialize(tmp_path)
        run = {"command": "waza.run", "arguments": [{"suite": str(suite)}]}
        client.send("workspace/executeCommand", run, id="run")
        started_engine(client)
        assert_leaves(client, leave, code)


@pytest.mark.parametrize("leave_after", [0.0, 0.3])
def test_while_the_engine_is_asked_for_plug_ins(leave_after: float, tmp_path: Path) -> None:
    suite = write_suite(tmp_path, PLUG_IN)
    with RawClient() as client:
        client.initialize(tmp_path)
        client.open(suite)
        started_engine(client)
        time.sleep(leave_after)
        assert_leaves(client, exit_in_order, 0)


@pytest.mark.parametrize(("leave", "code"), [WAYS[0], WAYS[2], WAYS[3], WAYS[6]])
def test_in_the_middle_of_a_run(leave: Callable[[RawClient], None], code: int, tmp_path: Path) -> None:
    suite = write_suite(tmp_path, RUNS, one=TASK)
    with RawClient() as client:
        client.initialize(tmp_path)
        run = {"command": "waza.run", "arguments": [{"suite": str(suite)}]}
        client.send("workspace/executeCommand", run, id="run")
        while not any(is_called(process, "sleep") for process in client.family()):
            time.sleep(0.05)
        assert_leaves(client, leave, code)


def test_all_messages_in_one_write_end_in_order() -> None:
    spoken = framed(
        message("initialize", introduction(), id=1),
        message("initialized", {}),
        message("shutdown", id=2),
        message("exit"),
    )
    with RawClient() as client:
        client.write(spoken)
        assert client.process.wait(PATIENCE_SECONDS) == 0
        assert [client.response()["id"], client.response()["id"]] == [1, 2]
    assert client.log == ""


@pytest.mark.parametrize(
    ("program", "leave", "code"),
    [(SLEEPS, *WAYS[1]), (LOOPS, *WAYS[1]), (LOOPS, *WAYS[2]), (LOOPS, *WAYS[3]), (WRITES, *WAYS[2])],
    ids=["sleeps", "loops", "loops, end of input", "loops, signal", "writes"],
)
def test_a_handler_that_never_ends_keeps_nothing_alive(
    program: str, leave: Callable[[RawClient], None], code: int
) -> None:
    with RawClient(running_server(program), reads=False) as client:
        client.write(framed(message("initialize", introduction(), id=1), message("initialized", {})))
        client.write(framed(message("textDocument/hover", HOVER, id=2)))
        while "busy" not in client.log:
            time.sleep(0.02)
        assert_leaves(client, leave, code)


def test_the_death_of_a_client_whose_pipe_stays_open(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, PLUG_IN)
    editor = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with RawClient() as client:
        client.initialize(tmp_path, processId=editor.pid)
        client.open(suite)
        started_engine(client)
        assert_leaves(client, lambda _: editor.kill(), 1)
    editor.wait()


def test_an_engine_that_still_loads_ends_with_its_input() -> None:
    program = (
        "import sys, time\n"
        "class Slow:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'waza_engine.commands.serve': print('loading', flush=True); time.sleep(600)\n"
        "sys.meta_path.insert(0, Slow())\n"
        "sys.argv = ['waza-engine', 'serve']\n"
        "from waza_engine.cli import main\n"
        "main()\n"
    )
    engine = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert engine.stdout is not None
    assert engine.stdin is not None
    assert engine.stdout.readline() == b"loading\n"
    engine.stdin.close()
    assert engine.wait(WITHIN_SECONDS + ON_A_BUSY_MACHINE) == 0
