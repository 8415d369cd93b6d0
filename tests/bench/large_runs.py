"""What commands cost on a suite of one task and on a large one: processor time and peak memory.

``python -m tests.bench.large_runs [TASKS]`` prints one Markdown row a command, for 10,000 tasks with five
graders each. Every command is a process of its own, as a user starts it; the executor is the mock.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.bench.regrading import GRADERS
from tests.engine.suites import write_suite

ROUNDS = 3
COMMANDS = (
    ("run",),
    ("report",),
    ("report", "--format", "junit"),
    ("grade",),
    ("grade", "--format", "json"),
)


def main(tasks: int = 10_000) -> None:
    """Write both suites and print what each command costs."""
    print("| tasks | command | CPU s | peak MB |\n|--:|---|--:|--:|")  # noqa: T201
    for count, rounds in ((1, ROUNDS), (tasks, 1)):
        with tempfile.TemporaryDirectory() as directory:
            write_suite(
                Path(directory),
                {
                    name: f"id: {name}\nname: {name}\ninputs: {{prompt: Say hello}}\n"
                    for name in (f"t{number:05}" for number in range(count))
                },
                graders=GRADERS,
            )
            for command in COMMANDS:
                costs = [cost(*command, directory) for _ in range(rounds)]
                seconds, megabytes = min(found[0] for found in costs), max(found[1] for found in costs)
                print(f"| {count:,} | `{' '.join(command)}` | {seconds:.2f} | {megabytes:.0f} |", flush=True)  # noqa: T201


def cost(*arguments: str) -> tuple[float, float]:
    """Return the processor seconds of a command with all it started, and the peak of its memory in MB."""
    process = subprocess.Popen(
        [sys.executable, "-m", "waza_engine", *arguments],
        stdout=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, arguments
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
