"""Agents that cost, and note in a ledger what they were asked; and the workers of a run."""

import json
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from tests.engine.executors.agents import write_agent
from tests.engine.suites import task, write_suite
from tests.patience import ON_A_BUSY_MACHINE

WAIT = "wait-for-it"
SAYS = "- {type: text, name: says, config: {contains: [fine]}}\n"
AGENT = """\
    prompt = sys.argv[sys.argv.index("-p") + 1]
    if "WAIT" in prompt:
        while os.path.exists("SLOW"):
            time.sleep(0.05)
        say(type="result", content="fine", tokens=0)
        sys.exit()
    with open("LEDGER", "a") as ledger:
        ledger.write(prompt.split()[0] + "\\n")
    say(type="result", content="fine", tokens=100)
    time.sleep(SECONDS)
"""


class LedgerSuite:
    """A suite whose agent costs. A task that is ``slow`` asks again, and waits until ``go_on``.

    It is another turn, because an agent that goes on after its answer is ended two seconds later.
    """

    def __init__(self, folder: Path, tasks: int, trials: int = 1, seconds: float = 0.0) -> None:
        self.folder = folder
        self.ledger = folder / "ledger"
        self.ledger.touch()
        script = AGENT.replace("LEDGER", str(self.ledger)).replace("SECONDS", str(seconds))
        usage = {"usage": {"output_tokens": "$.tokens"}}
        write_agent(
            folder,
            script.replace("SLOW", str(folder / "slow")).replace("WAIT", WAIT),
            sessionMode="iterative",
            **{"x-waza": usage},
        )
        names = [name_of(number) for number in range(tasks)]
        config = (
            f"config: {{trials_per_task: {trials}, timeout_seconds: 900, executor: command, "
            "adapter: adapter.json, model: gpt-4o}\n"
        )
        prompts = {name: task(name, prompt=name) for name in names}
        self.path = write_suite(folder, prompts, graders=SAYS, config=config)

    def slow(self, *tasks: str) -> None:
        (self.folder / "slow").touch()
        for name in tasks:
            file = self.folder / "tasks" / f"{name}.yaml"
            file.write_text(file.read_text().replace("}", f", follow_up_prompts: [{WAIT}]}}", 1))

    def go_on(self) -> None:
        """Let slow agents answer."""
        (self.folder / "slow").unlink()

    def asked(self) -> Counter[str]:
        """Return how often each prompt was sent."""
        return Counter(self.ledger.read_text().split())

    def wait_until_asked(self, prompt: str) -> None:
        until(lambda: self.asked()[prompt] > 0, f"{prompt} is not asked")

    def worker_of(self, task_id: str) -> int:
        """Return the process that executes the only trial of a task, which its agent is asked in."""
        found: list[int] = []

        def look() -> bool:
            for asked in self.folder.glob(".waza/runs/*/trials/*/*.asked"):
                entry: Any = json.loads(asked.read_bytes() or b"{}")
                if entry.get("asked", {}).get("test_id") == task_id:
                    lease = asked.parents[2] / "workers" / f"{entry['worker']}.json"
                    found.append(json.loads(lease.read_bytes())["process"]["pid"])
            return bool(found)

        until(look, f"no worker has {task_id}")
        return found[0]

    def wait_until_stored(self, task_id: str) -> None:
        """Wait until the answer to a task is in the folder of the run."""
        stored = ".waza/runs/*/trials/*/*.jsonl"
        until(lambda: any(task_id in path.read_text() for path in self.folder.glob(stored)), f"no {task_id}")

    def wait_until_ended(self, trials: int) -> None:
        """Wait until so many trials have ended: a worker that is killed then loses none of them."""
        ended = ".waza/runs/*/trials/*/*.json"
        until(lambda: len([*self.folder.glob(ended)]) == trials, f"{trials} trials do not end")


def waits_once(marker: Path) -> str:
    """Return a grader that waits for a minute the first time, when it makes a file."""
    script = f"import pathlib, time; p = pathlib.Path({str(marker)!r}); old = p.exists(); p.touch(); "
    script += "time.sleep(0 if old else 60)"
    config = f"{{command: python3, args: [-c, {json.dumps(script)}], timeout: 90}}"
    return f"- {{type: program, name: waits, config: {config}}}\n"


def workers_of(folder: Path) -> Iterator[int]:
    """Yield the processes of workers that have executed trials of the run in a folder."""
    for lease in folder.glob(".waza/runs/*/workers/*.json"):
        with suppress(OSError, ValueError):
            yield int(json.loads(lease.read_bytes())["process"]["pid"])


def name_of(number: int) -> str:
    return f"t{number:03}"


def until(holds: Callable[[], bool], failure: str, seconds: float = 150.0) -> None:
    deadline = time.monotonic() + seconds + ON_A_BUSY_MACHINE
    while not holds():
        assert time.monotonic() < deadline, failure
        time.sleep(0.02)


def kill(process: int, number: int = signal.SIGKILL) -> None:
    os.kill(process, number)


def agents_alive(folder: Path) -> list[psutil.Process]:
    """Return the agents of a suite that have not ended."""
    mark = str(folder / "agent.py")
    return [
        process
        for process in psutil.process_iter(["cmdline", "cwd", "status"])
        if process.info["status"] != psutil.STATUS_ZOMBIE and mark in " ".join(process.info["cmdline"] or ())
    ]
