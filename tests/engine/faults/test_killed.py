"""Whatever kills the engine, and whenever: nothing that its programs have started goes on."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.conftest import StartModel
from tests.engine.executors.agents import write_agent
from tests.engine.faults.independent import command, left_after, wait_for, write_independent
from tests.engine.faults.runs import faulty_run
from tests.engine.faults.runs import started as engine_started
from tests.engine.suites import CONFIG, openai_config, present, task, write_suite
from tests.patience import ON_A_BUSY_MACHINE

pytestmark = pytest.mark.check

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers")
VICTIMS = ("what was started", "the engine below it", "its process group")
PLACES = ("grader", "hook", "agent", "server")


def suite_with(place: str, directory: Path, started: list[str], base_url: str) -> Path:
    """Write a suite that starts a command as one of the kinds of programs that a suite has."""
    if place == "grader":
        grader = {"type": "program", "name": "g", "config": {"command": started[0], "args": started[1:]}}
        return write_suite(directory, {"a": task("a")}, graders=f"- {json.dumps(grader)}\n")
    if place == "hook":
        hooks = json.dumps({"before_task": [{"command": " ".join(started)}]})
        return write_suite(directory, {"a": task("a")}, more=f"hooks: {hooks}\n")
    if place == "agent":
        directory.mkdir()
        write_agent(directory, "", command=started)
        config = CONFIG.replace("mock", "command, adapter: adapter.json")
        return write_suite(directory, {"a": task("a")}, config=config)
    server = json.dumps({"x": {"command": started[0], "args": started[1:]}})
    config = openai_config(base_url, f"mcp_servers: {server}")
    return write_suite(directory, {"a": task("a")}, config=config)


def kill(victim: str, process: subprocess.Popen[bytes]) -> None:
    if victim == "its process group":
        os.killpg(process.pid, signal.SIGKILL)
    elif victim == "the engine below it":
        (guard,) = psutil.Process(process.pid).children()
        min(guard.children(), key=lambda child: child.create_time()).kill()
    else:
        process.kill()


@linux
@pytest.mark.parametrize("seed", range(8))
def test_nothing_outlives_a_killed_engine(
    tmp_path: Path, scripted_model: StartModel, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    chance = random.Random(seed)
    place, victim = PLACES[seed % len(PLACES)], chance.choice(VICTIMS)
    mark, began = f"independent-{os.getpid()}-{seed}-{time.time_ns()}", tmp_path / "began"
    started = command(write_independent(tmp_path), mark, began)
    base_url = scripted_model("Hello").base_url
    suite = suite_with(place, tmp_path / "suite", started, base_url)
    process = engine_started(suite, tmp_path, "--format", "jsonl", start_new_session=True)
    wait_for(began)
    time.sleep(chance.uniform(0, 0.5))
    kill(victim, process)
    assert process.wait(10 + ON_A_BUSY_MACHINE) == -signal.SIGKILL
    assert left_after(mark) == [], (place, victim)


LEAVES = """
import os, sys
if os.fork():
    sys.exit(0)
os.setsid()
if os.fork():
    os._exit(0)
for descriptor in (0, 1, 2):
    os.close(descriptor)
os.execve(sys.executable, [sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)", sys.argv[1]], {})
"""
LOOKS = """
import pathlib, sys
mark = "".join(reversed(sys.argv[1])).encode()
for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
    try:
        found = mark in path.read_bytes()
    except OSError:
        continue  # it has ended meanwhile
    if found:
        sys.exit(1)
"""


@linux
def test_a_daemon_without_parent_or_environment_ends_with_its_grader(tmp_path: Path) -> None:
    mark = f"daemon-{os.getpid()}-{time.time_ns()}"
    graders = [
        {"type": "program", "name": name, "config": {"command": sys.executable, "args": ["-c", code, text]}}
        for name, code, text in (("leaves", LEAVES, mark), ("looks", LOOKS, mark[::-1]))
    ]
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    suite = write_suite(
        tmp_path / "suite",
        {"a": task("a")},
        graders="".join(f"- {json.dumps(grader)}\n" for grader in graders),
    )
    found = faulty_run(suite, temporary=temporary)
    assert found.verdict("a", "leaves")["passed"] is True
    assert found.verdict("a", "looks")["passed"] is True
    assert left_after(mark, seconds=0) == []


@linux
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGQUIT])
def test_the_command_ends_by_the_signal_that_ended_the_engine(tmp_path: Path, number: int) -> None:
    suite = write_suite(
        tmp_path,
        {"a": task("a")},
        graders='- {type: program, name: g, config: {command: sleep, args: ["60"]}}\n',
    )
    with engine_started(suite, tmp_path, "--format", "jsonl", stdout=subprocess.PIPE) as process:
        while b'"output"' not in present(process.stdout).readline():
            pass
        (guard,) = psutil.Process(process.pid).children()
        guard.children()[0].send_signal(number)
        assert process.wait(20 + ON_A_BUSY_MACHINE) == -number
