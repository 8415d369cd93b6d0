"""Kills of captures and trials at random moments: no row is lost or torn, no stored answer is paid twice.

``python -m tests.engine.harness.kills --times 50`` kills each command so often, and then lets it finish.
"""

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from tests.command_line import harness
from tests.engine.harness.scenarios import ADAPTER, CONTAINS, lines, prompt
from tests.patience import staying

# It notes each time that it is asked: that is what costs.
PAID_AGENT = """\
import json, os, sys, time
asked = sys.argv[-1]
with open("asked.log", "a") as log: log.write(asked + "\\n")
time.sleep(float(os.environ.get("AGENT_SECONDS", "0")))
usage = {"in": 100, "out": 20}
print(json.dumps({"type": "message", "text": "key: " + os.environ.get("SERVICE_API_KEY", "")}))
print(json.dumps({"type": "result", "text": f"answer to {asked}#{os.getpid()}", **usage}))
"""
USAGE = {"x-waza": {"usage": {"input_tokens": "$.in", "output_tokens": "$.out"}}}
SLOW_GRADER = CONTAINS.replace("import sys\n", "import sys\nimport time\n\ntime.sleep(0.05)\n")
OUTPUT, JOURNAL = "out.jsonl", "out.jsonl.partial.jsonl"
FLAGS = ("p.jsonl", "-s", "a.json", "-g", "contains.py", "-j", "2", "-o", OUTPUT, "--resume")


@dataclass(frozen=True)
class Kills:
    """The kills of a command: those that met it at work, and how often the agent was asked for its answers.

    ``cut_off`` are the answers that were requested and not stored when the command was killed.
    """

    killed: int
    asked: int
    answers: int
    cut_off: int


def write_suite(folder: Path, prompts: int) -> None:
    """Write an agent that costs, its adapter, a slow grader and prompts whose input is their id."""
    adapter = {**ADAPTER, **USAGE, "command": [sys.executable, "agent.py"]}
    (folder / "agent.py").write_text(PAID_AGENT, "utf-8")
    (folder / "a.json").write_text(json.dumps(adapter), "utf-8")
    (folder / "contains.py").write_text(SLOW_GRADER, "utf-8")
    (folder / "p.jsonl").write_text(lines(*(prompt(f"p{at:02}", f"p{at:02}") for at in range(prompts))))


def rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file. Raises ``ValueError`` for a torn one."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def asked(folder: Path) -> list[str]:
    """Return the questions that the agent was asked."""
    log = folder / "asked.log"
    return log.read_text("utf-8").split() if log.exists() else []


def stored(folder: Path) -> set[str]:
    """Return the answers that outlive the process; no two are equal."""
    found = list(_answers(rows(folder / OUTPUT)) if (folder / OUTPUT).exists() else ())
    journal = folder / JOURNAL
    for line in journal.read_text("utf-8").splitlines() if journal.exists() else ():
        with contextlib.suppress(ValueError):  # the last line may be torn
            found += _answers([json.loads(line).get("answer") or {}])
    return set(found)


def _answers(found: Sequence[dict[str, Any]]) -> Iterator[str]:
    for row in found:
        yield from (entry["output"] for entry in row.get("trials", [row]) if entry.get("output"))


def started(folder: Path, *arguments: str, seconds: float = 0.02) -> subprocess.Popen[bytes]:
    """Start a command of the harness whose agent takes some seconds."""
    return subprocess.Popen(
        [sys.executable, "-m", "waza_engine", "harness", *arguments],
        cwd=folder,
        env={**os.environ, "AGENT_SECONDS": str(seconds), "PYTHONSAFEPATH": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def kill(folder: Path, command: Sequence[str], times: int, prompts: int, seed: int) -> Kills:
    """Kill a command at random moments, resume it each time, and let it finish.

    Raises ``AssertionError`` when an answer is lost or paid for twice, or a row is torn.
    """
    draw, trials = random.Random(seed), int(command[-1]) if len(command) > 1 else 1
    write_suite(folder, prompts)
    killed = cut_off = 0
    for _ in range(times):
        before, had = len(asked(folder)), stored(folder)
        process = started(folder, *command, *FLAGS, seconds=0.2)
        # Until it asks, it only loads its modules.
        while len(asked(folder)) == before and process.poll() is None:
            time.sleep(0.01)
        time.sleep(draw.uniform(0.0, 0.8))
        killed += process.poll() is None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        # An agent that has just been started would note its question among those of the next command.
        assert not staying(_processes_in(folder))
        cut_off += _checked(folder, before, had, trials)
    before, had = len(asked(folder)), stored(folder)
    ended = harness(*command, *FLAGS, cwd=folder)
    assert ended.returncode == 0, ended.stderr
    assert _checked(folder, before, had, trials) == 0
    found = rows(folder / OUTPUT)
    assert sorted(row["id"] for row in found) == sorted(f"p{at:02}" for at in range(prompts))
    assert {len(row.get("trials", [row])) for row in found} == {trials}
    assert not (folder / JOURNAL).exists()
    return Kills(killed, len(asked(folder)), prompts * trials, cut_off)


def _processes_in(folder: Path) -> list[psutil.Process]:
    """Return the processes that work in a folder, agents and graders."""
    return [each for each in psutil.process_iter(["cwd"]) if each.info["cwd"] == str(folder)]


def _checked(folder: Path, before: int, had: set[str], trials: int) -> int:
    """Return how many answers a run has paid for that are not stored after it.

    ``had`` are the stored answers before it, ``before`` is the number of questions then.
    """
    has = stored(folder)
    assert had <= has, f"lost: {had - has}"
    owed = Counter(_question(answer) for answer in had)
    new = asked(folder)[before:]
    for question, count in Counter(new).items():
        assert count <= trials - owed[question], f"{question} is paid for again"
    return len(new) - len(has - had)


def _question(answer: str) -> str:
    return answer.removeprefix("answer to ").partition("#")[0]


def main() -> None:
    """Search with the numbers of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for command in (("capture",), ("trials", "-k", "2")):
        with tempfile.TemporaryDirectory() as folder:
            found = kill(Path(folder), command, options.times, 4 * options.times, options.seed)
        sys.stdout.write(f"{' '.join(command)}: {found}\n")


if __name__ == "__main__":
    main()
