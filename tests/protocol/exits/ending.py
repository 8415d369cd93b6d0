"""One exit: a client and its server are brought to a moment, ended in a way, and what is left is counted."""

from __future__ import annotations

import json
import os
import random
import secrets
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import psutil

from tests.protocol.exits.suite import PROGRAMS, QUICK_TASK, write_suite

MARK = "WAZA_EXITS_TEST"
"""Everything that a client starts inherits this variable, with a value of its own."""
MOMENTS = {
    "spawned": 1.0,
    "introduced": 1.0,
    "idle": 0.8,
    "opened": 1.2,
    "started": 2.5,
    "running": 0.3,
    "canceled": 0.6,
}
"""Each moment, and for how many seconds after it the end may come.

``spawned``: nothing was said yet. ``introduced``: ``initialize`` is sent, the answer not awaited. ``opened``:
a document is open that makes the server ask the engine. ``started``: a run was asked for. ``running``: all
programs of the suite run. ``canceled``: and the run was cancelled.
"""
WAYS = ("shutdown", "exit", "end of input", "SIGTERM", "kill server", "kill client", "kill engine")
ANSWER_SECONDS = 120.0
STAYS_SECONDS = 30.0
"""What is still there after so long stays for good, however busy the machine is."""


@dataclass(frozen=True)
class Plan:
    """When and how a server ends."""

    moment: str
    way: str
    delay: float
    cancels_request: bool
    programs: tuple[str, ...] = PROGRAMS
    folder: str = ""


@dataclass(frozen=True)
class Ending:
    """What came of a plan. ``seconds`` until nothing was left, infinite when something stays for good."""

    plan: Plan
    seconds: float
    complaints: tuple[str, ...]


def plan_of(seed: int) -> Plan:
    """Return the plan of a seed."""
    chance = random.Random(f"exit {seed}")
    moment = chance.choice(list(MOMENTS))
    return Plan(moment, chance.choice(WAYS), chance.random() * MOMENTS[moment], chance.random() < 0.5)


def end(plan: Plan) -> Ending:
    """Carry out a plan. What is left for good is a complaint; it is ended then."""
    mark = secrets.token_hex(8)
    with tempfile.TemporaryDirectory(prefix="exits-", ignore_cleanup_errors=True) as place:
        root = Path(place).resolve()
        suite, temporary = write_suite(root / "suite"), root / "temporary"
        temporary.mkdir()
        environment = {**os.environ, MARK: mark, "TMPDIR": str(temporary)}
        client = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("client.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
        )
        try:
            seconds, complaints = _carried_out(client, replace(plan, folder=str(suite.parent)), mark)
        finally:
            client.kill()
            client.communicate()
            for process in marked(mark):
                process.kill()
        complaints += _left_on_disk(suite, temporary, environment)
    return Ending(plan, seconds, tuple(complaints))


def marked(mark: str, without: int | None = None) -> list[psutil.Process]:
    """Return the living processes that inherited a mark."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark and process.pid != without:
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return found


def _carried_out(client: subprocess.Popen[str], plan: Plan, mark: str) -> tuple[float, list[str]]:
    assert client.stdin is not None
    assert client.stdout is not None
    client.stdin.write(json.dumps(asdict(plan)) + "\n")
    client.stdin.flush()
    complaints: list[str] = []
    while (line := client.stdout.readline().strip()) != "ended":
        if not line:
            return float("inf"), [*complaints, "the client failed"]
        complaints.append(line)
    seconds = 0.0
    if plan.way == "kill engine":
        # The engine is gone, the server stays: only what the engine had started must go.
        server = _server_of(client.pid)
        seconds, left = _left(mark, {client.pid, server})
        complaints += left
        client.stdin.write("\n")
        client.stdin.flush()
        client.stdout.readline()
    more_seconds, left = _left(mark, {client.pid})
    seconds = max(seconds, more_seconds)
    complaints += left
    if plan.way == "shutdown" and plan.moment in ("introduced", "idle"):
        code = client.stdout.readline().strip()
        complaints += [] if code == "exit code 0" else [f"{code} after shutdown and exit"]
    return seconds, complaints


def _server_of(client: int) -> int:
    children = psutil.Process(client).children()
    return children[0].pid if children else -1


def _left(mark: str, without: set[int]) -> tuple[float, list[str]]:
    """Wait until no marked process is left; return how long that took, and what stayed."""
    started = time.monotonic()
    while True:
        left = [process for process in marked(mark) if process.pid not in without]
        seconds = time.monotonic() - started
        if not left:
            return seconds, []
        if seconds > STAYS_SECONDS:
            return float("inf"), [f"left: {_words(process)}" for process in left]
        time.sleep(0.05)


def _words(process: psutil.Process) -> str:
    try:
        command = " ".join(process.cmdline())
        return next((name for name in _KNOWN if name in command), command[-120:])
    except psutil.Error:
        return "a process that is gone now"


_KNOWN = (
    "waza_language_server",
    "waza_engine serve",
    *(f"child-of-{name}" for name in PROGRAMS),
    *PROGRAMS,
)


def _left_on_disk(suite: Path, temporary: Path, environment: dict[str, str]) -> list[str]:
    """Return what is in the temporary folder, also after the next run, which removes workspaces."""
    if not any(temporary.iterdir()):
        return []
    command = [sys.executable, "-m", "waza_engine", "run", str(suite), "--task", QUICK_TASK]
    subprocess.run(command, env=environment, capture_output=True, check=False, timeout=ANSWER_SECONDS)
    return [f"left in the temporary folder: {path.name}" for path in temporary.iterdir()]
