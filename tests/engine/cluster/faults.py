"""Faults at random moments of runs on a cluster: nothing is paid twice, and every trial is accounted for.

``python -m tests.engine.cluster.faults --runs 25 --seed 1`` kills and freezes workers of paid runs, and of
runs with the mock agent, whose results must be those of threads.
"""

import argparse
import random
import signal
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.engine.cluster.ledgers import LedgerSuite, kill, workers_of
from tests.engine.suites import GREETS, task, write_suite
from waza_engine.cluster.addresses import ClusterAddress
from waza_engine.cluster.dask_backend import backends_of
from waza_engine.cluster.dask_cluster import DaskCluster
from waza_engine.results.record import RunOutcome
from waza_engine.runs.events.stream import RunEvent
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.preparing import prepare
from waza_engine.runs.settings.table import RunSettings

FROZEN_SECONDS = 1.5


@dataclass(frozen=True, slots=True)
class Disturbed:
    """A run with faults: its outcome and how many there were."""

    outcome: RunOutcome
    faults: int


def disturbed(
    cluster: DaskCluster, path: Path, faults: int, seed: int, shard: str | None = None
) -> Disturbed:
    """Run a suite, and disturb a worker so often, each time when a random number of trials has ended."""
    chance = random.Random(seed)
    prepared = prepare(RunSettings(path, shard=shard), backend=backends_of(cluster))
    moments = sorted(chance.sample(range(prepared.total * 9 // 10), faults))
    ended, done = threading.Semaphore(0), list[int]()
    over = threading.Event()

    def tell(event: RunEvent) -> None:
        if event.trial is not None and event.completed is not None:
            ended.release()

    def disturb() -> None:
        count = 0
        for moment in moments:
            while count < moment and not over.is_set():
                count += ended.acquire(timeout=0.1)
            processes = [found for found in workers_of(path.parent) if psutil.pid_exists(found)]
            if processes and not over.is_set():
                done.append(chance.choice(sorted(processes)))
                with suppress(ProcessLookupError):
                    if chance.random() < 0.3:
                        kill(done[-1], signal.SIGSTOP)
                        time.sleep(FROZEN_SECONDS)
                        kill(done[-1], signal.SIGCONT)
                    else:
                        kill(done[-1])

    thread = threading.Thread(target=disturb)
    thread.start()
    outcome = prepared.run(tell, RunCancellation()).outcome
    over.set()
    thread.join()
    return Disturbed(outcome, len(done))


def mock_suite(folder: Path, tasks: int, trials: int) -> Path:
    """Write a suite for the mock agent."""
    config = f"config: {{trials_per_task: {trials}, timeout_seconds: 60, executor: mock}}\n"
    names = [f"t{number:05}" for number in range(tasks)]
    return write_suite(folder, {name: task(name) for name in names}, graders=GREETS, config=config)


def unaccounted(suite: LedgerSuite, outcome: RunOutcome, trials: int) -> list[str]:
    """Return what is wrong: a prompt that was sent twice for a trial, or an answer that is nowhere."""
    asked = suite.asked()
    wrong = [f"{name} was asked {times} times" for name, times in asked.items() if times > trials]
    for found in outcome.tasks:
        heard = [trial for trial in found.trials if trial.status == "passed" or trial.lost]
        if len(heard) != trials:
            wrong.append(f"{found.id} has {len(heard)} trials: {found.error}")
        elif asked[found.id] < sum(trial.status == "passed" for trial in heard):
            wrong.append(f"{found.id} has answers that nobody gave")
    return wrong


def main() -> int:
    """Disturb so many runs; the exit code says whether anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=25)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    wrong = faults = lost = 0
    with DaskCluster(ClusterAddress(local=2), lambda sentence: None) as cluster:
        for seed in range(options.seed, options.seed + options.runs):
            with tempfile.TemporaryDirectory(prefix="faults-", ignore_cleanup_errors=True) as folder:
                suite = LedgerSuite(Path(folder), tasks=20, trials=2, seconds=0.2)
                began = time.monotonic()
                found = disturbed(cluster, suite.path, 2, seed)
                faults += found.faults
                lost += sum(trial.lost for task in found.outcome.tasks for trial in task.trials)
                for sentence in unaccounted(suite, found.outcome, 2):
                    wrong += 1
                    sys.stdout.write(f"seed {seed}: {sentence}\n")
                sys.stdout.write(f"seed {seed}: {found.faults} faults, {time.monotonic() - began:.0f} s\n")
                sys.stdout.flush()
    sys.stdout.write(f"{options.runs} runs, {faults} faults, {lost} trials lost, {wrong} wrong\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
