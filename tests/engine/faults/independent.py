"""A program that starts others which cut themselves off from it in every way, until it is killed."""

import sys
import time
from pathlib import Path

import psutil

from tests.engine.faults.runs import marked_processes

# Its arguments: a mark, which all it starts has in its command line, and a file that it makes when it begins.
SOURCE = """
import itertools, os, pathlib, signal, subprocess, sys, time

mark, began = sys.argv[1:3]
END = time.time() + 60
SLEEPS = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)", mark]

def in_own_session():
    os.setsid()

def twice_removed():
    os.setsid()
    if os.fork():
        os._exit(0)

def forking_without_end():
    os.setsid()
    while time.time() < END:
        if os.fork():
            os._exit(0)
        os.setsid()
        time.sleep(0.01)
    os._exit(0)

def nothing():
    pass

signal.signal(signal.SIGTERM, signal.SIG_IGN)
pathlib.Path(began).touch()
ways = (nothing, in_own_session, twice_removed, forking_without_end)
for way, environment in itertools.product(ways, (dict(os.environ), {})):
    child = os.fork()
    if not child:
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        way()
        os.execve(sys.executable, SLEEPS, environment)
    if way in (twice_removed, forking_without_end):
        os.waitpid(child, 0)
    time.sleep(0.01)
time.sleep(60)
"""


def write_independent(directory: Path) -> Path:
    path = directory / "independent.py"
    path.write_text(SOURCE, "utf-8")
    return path


def command(program: Path, mark: str, began: Path) -> list[str]:
    return [sys.executable, "-I", "-S", str(program), mark, str(began)]


def wait_for(file: Path, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not file.exists():
        assert time.monotonic() < deadline, f"{file.name} did not appear"
        time.sleep(0.001)


def left_after(mark: str, seconds: float = 10.0) -> list[psutil.Process]:
    """Return what still lives of the marked processes when all of them had so long to end."""
    deadline = time.monotonic() + seconds
    while (left := marked_processes(mark)) and time.monotonic() < deadline:
        time.sleep(0.05)
    for process in left:
        process.kill()
    return left
