"""Faults of every kind in paid runs on processes of their own: nothing is paid twice, and every run ends.

``python -m tests.engine.cluster.fault_runs --runs 25 --seed 1`` makes runs of forty trials with two faults
each. It starts itself in namespaces of its own, where a disk can be full and a network cut; only Linux has
these.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.engine.cluster.ledgers import LedgerSuite, agents_alive, kill, name_of, until
from tests.engine.cluster.processes import Cluster, Machine, engine_of
from tests.engine.cluster.test_remote_workers import lost, newest
from tests.patience import staying

PRIVATE = ["unshare", "--user", "--map-root-user", "--mount", "--net"]
INSIDE = "WAZA_TEST_FAULT_RUNS"
HOST, LINK, WORKER = "10.9.0.1", "10.9.1.1", "10.9.1.2"
# A worker with a network of its own: its only link is made, and cut, by this program.
CONNECTED = (
    f"until ip addr add {WORKER}/24 dev there 2>/dev/null; do sleep 0.1; done; "
    f"ip link set lo up; ip link set there up; ip route add default via {LINK}; "
    'exec "$@"'
)
TASKS = 40
FROZEN_SECONDS = 60.0
CUT_SECONDS = 45.0
LONGEST_SECONDS = 240.0
"""A run that has not ended by then, hangs."""


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, stderr=subprocess.DEVNULL)


class Network(Cluster):
    """A scheduler, a worker on its machine, and one behind a link."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, workers=1, host=HOST)
        self.far: Machine | None = None

    def repair(self) -> None:
        """Start what has ended, and connect what was cut."""
        super().repair()
        if self.far not in self.workers:
            self.far = self._add_far()
        if len(self.workers) < 2:
            self.add_worker()
        self.connect(is_cut=False)
        for machine in self.workers:
            machine.wait_for("works for")

    def connect(self, *, is_cut: bool) -> None:
        with suppress(subprocess.CalledProcessError):  # it went with its other end
            ip("link", "set", "here", "down" if is_cut else "up")

    def _add_far(self) -> Machine:
        far = Machine(
            *(
                "-c",
                "import os, sys; os.execvp('unshare', sys.argv[1:])",
                "unshare",
                "--net",
                "sh",
                "-c",
                CONNECTED,
                "sh",
            ),
            *(sys.executable, "-u", "-m", "waza_engine", "worker", self.address, "--slots", 2, *self.tls),
        )
        with suppress(subprocess.CalledProcessError):  # it went with its other end
            ip("link", "del", "here")
        own, theirs = Path("/proc/self/ns/net"), Path(f"/proc/{far.process.pid}/ns/net")
        until(lambda: theirs.readlink() != own.readlink(), "it has no network of its own")
        ip("link", "add", "here", "type", "veth", "peer", "name", "there", "netns", str(far.process.pid))
        ip("addr", "add", f"{LINK}/24", "dev", "here")
        ip("link", "set", "here", "up")
        self.workers.append(far)
        return far


class FaultRun:
    """A paid run with faults, resumed until all of its trials are there."""

    def __init__(self, folder: Path, network: Network, kinds: list[str], seed: int) -> None:
        self._chance = random.Random(seed)
        self._folder, self._network, self._kinds = folder, network, kinds
        self._moments = sorted(self._chance.sample(range(1, TASKS * 9 // 10), len(kinds)))
        (folder / ".waza").mkdir(parents=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", folder / ".waza"], check=True)
        self._suite = LedgerSuite(folder, tasks=TASKS, seconds=0.5)
        self._started: list[tuple[float, Callable[[], None]]] = []
        self.wrong: list[str] = []
        self.ended: list[str] = []
        self.codes: list[int] = []
        self.lost = self.asked = 0
        self._strike: Mapping[str, Callable[[], None]] = {
            "worker": self._kill_worker,
            "frozen": self._freeze_worker,
            "scheduler": lambda: kill(self._network.scheduler.process.pid),
            "coordinator": self._kill_coordinator,
            "full": self._fill_place,
            "cut": self._cut_network,
        }

    def execute(self) -> None:
        """Run, disturb, resume, and note what is wrong."""
        options: list[object] = []
        for _ in range(12):
            code = self._disturbed(options)
            self.codes.append(code)
            self._end_faults(all_of_them=True)
            self._network.repair()
            if code in (0, 4) and not self._moments:
                break
            options = ["--resume"]
            time.sleep(2)
        found = newest(self._suite)
        asked, is_lost = self._suite.asked(), lost(found)
        self.lost, self.asked = len(is_lost), asked.total()
        self._check_all_are_there(asked, is_lost)
        if not is_lost:
            return
        again = self._network.run(self._suite.path, "--resume", "--retry", "lost")
        if again.ended(LONGEST_SECONDS) != 0:
            self.wrong.append(f"lost trials do not run again: {again.text}")
        more = self._suite.asked() - asked
        if more != Counter(is_lost):
            self.wrong.append(f"of {len(is_lost)} lost trials {more.total()} were asked again")

    def _check_all_are_there(self, asked: Counter[str], is_lost: list[str]) -> None:
        self.wrong += [f"{name} was asked {times} times" for name, times in asked.items() if times > 1]
        tasks = {task.id: [trial.outcome for trial in task.trials] for task in newest(self._suite).tasks}
        for name in map(name_of, range(TASKS)):
            trials = tasks.get(name, [])
            if len(trials) != 1:
                self.wrong.append(f"{name} has {len(trials)} trials")
            elif trials[0].status != "passed" and name not in is_lost:
                self.wrong.append(f"{name} is {trials[0].status}: {trials[0].error}")
            elif trials[0].status == "passed" and asked[name] != 1:
                self.wrong.append(f"{name} has an answer that nobody gave")

    def _disturbed(self, options: list[object]) -> int:
        run = self._network.run(self._suite.path, *options)
        deadline = time.monotonic() + LONGEST_SECONDS
        struck, since = list[str](), time.monotonic()
        while run.process.poll() is None:
            self._end_faults(all_of_them=False)
            # A run that has begun, or there is nothing to disturb.
            is_active = any(self._folder.glob(".waza/runs/*/workers/*.json"))
            if self._moments and is_active and self._suite.asked().total() >= self._moments[0]:
                self._moments.pop(0)
                struck.append(self._kinds.pop(0))
                since = time.monotonic()
                with suppress(ProcessLookupError):
                    self._strike[struck[-1]]()
                deadline = time.monotonic() + LONGEST_SECONDS
            if time.monotonic() > deadline:
                self.wrong.append(f"after {struck} a run hangs")
                break
            time.sleep(0.05)
        took = time.monotonic() - since
        code = run.ended(10) if run.process.poll() is not None else -1
        run.close()
        why = next((line for line in run.lines if "the rest" in line or "cannot be" in line), "").strip()
        if struck:
            self.ended.append(f"{' and '.join(struck)}: ended after {took:.0f} s, {code} {why}".strip())
        if "frozen" not in struck and code >= 0 and (left := staying(agents_alive(self._folder), 5.0)):
            self.wrong.append(f"after {struck} {len(left)} agents are alive")
        if code not in (0, 2, 4) and "coordinator" not in struck:
            self.wrong.append(f"after {struck} the code is {code}: {run.text}")
        return code

    def _kill_worker(self) -> None:
        kill(engine_of(self._chance.choice(self._network.workers)))

    def _freeze_worker(self) -> None:
        frozen = engine_of(self._chance.choice(self._network.workers))
        kill(frozen, signal.SIGSTOP)
        self._later(FROZEN_SECONDS, lambda: kill(frozen, signal.SIGCONT))

    def _kill_coordinator(self) -> None:
        for journal in self._folder.glob(".waza/results/*.partial.jsonl"):
            with journal.open("rb") as lines:
                header: Any = json.loads(lines.readline())
                kill(header["process"]["pid"])

    def _fill_place(self) -> None:
        filler = self._folder / ".waza" / "filler"
        with suppress(OSError), filler.open("wb", buffering=0) as file:
            for size in (1 << 16, 1 << 12, 1 << 8):
                with suppress(OSError):
                    while file.write(b"x" * size):
                        pass
        self._later(CUT_SECONDS, lambda: filler.unlink(missing_ok=True))

    def _cut_network(self) -> None:
        self._network.connect(is_cut=True)
        self._later(CUT_SECONDS, lambda: self._network.connect(is_cut=False))

    def _later(self, seconds: float, end: Callable[[], None]) -> None:
        self._started.append((time.monotonic() + seconds, end))

    def _end_faults(self, *, all_of_them: bool) -> None:
        for started in tuple(self._started):
            if all_of_them or time.monotonic() > started[0]:
                self._started.remove(started)
                with suppress(ProcessLookupError):
                    started[1]()


def main() -> int:
    """Make so many runs; the exit code says whether anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=25)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", nargs="*", default=[])
    options = parser.parse_args()
    if INSIDE not in os.environ:
        command = [*PRIVATE, sys.executable, "-m", "tests.engine.cluster.fault_runs", *sys.argv[1:]]
        return subprocess.run(command, env={**os.environ, INSIDE: "1"}, check=False).returncode
    ip("link", "set", "lo", "up")
    ip("addr", "add", f"{HOST}/32", "dev", "lo")
    kinds = options.kinds or ["worker", "frozen", "scheduler", "coordinator", "full", "cut"]
    chance = random.Random(options.seed)
    drawn = [kinds[number % len(kinds)] for number in range(2 * options.runs)]
    chance.shuffle(drawn)
    wrong, all_lost, asked = 0, 0, 0
    for number in range(options.runs):
        seed = options.seed + number
        folder = Path(tempfile.mkdtemp(prefix="faults-"))
        try:
            with Network(folder) as network:
                network.repair()
                run = FaultRun(folder / "suite", network, drawn[2 * number : 2 * number + 2], seed)
                run.execute()
        finally:
            subprocess.run(["umount", "--lazy", folder / "suite" / ".waza"], check=False)
        all_lost += run.lost
        wrong += len(run.wrong)
        asked += run.asked
        codes = " ".join(map(str, run.codes))
        sys.stdout.write(
            f"seed {seed}: {'; '.join(run.ended)}; codes {codes}; {run.lost} lost, {run.asked} asked\n"
        )
        sys.stdout.writelines(f"seed {seed}: wrong: {sentence}\n" for sentence in run.wrong)
        sys.stdout.flush()
        shutil.rmtree(folder, ignore_errors=True)
    sys.stdout.write(
        f"{options.runs} runs, {TASKS * options.runs} trials, {2 * options.runs} faults, "
        f"{all_lost} trials lost, {asked} asked, {wrong} wrong\n"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
