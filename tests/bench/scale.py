"""What a trial costs on a cluster next to threads, and what a million of them would need.

``python -m tests.bench.scale --trials 2000`` runs the mock agent, so that nothing but the overhead is left.
"""

import argparse
import multiprocessing
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.engine.cluster.faults import mock_suite
from waza_engine.boundary import suite_boundary
from waza_engine.cluster.addresses import ClusterAddress
from waza_engine.cluster.dask_backend import backends_of
from waza_engine.cluster.dask_cluster import DaskCluster
from waza_engine.cluster.local_workers import SLOTS as LOCAL_SLOTS
from waza_engine.cluster.run_store import FolderRunStore
from waza_engine.runs.events.stream import RunEvent
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.preparing import prepare
from waza_engine.runs.settings.table import RunSettings
from waza_engine.runs.trials.backend import BackendFactory, ThreadBackend

WORKERS = 2
SLOTS = WORKERS * LOCAL_SLOTS
TRIALS_PER_TASK = 10


@dataclass(frozen=True, slots=True)
class Cost:
    """What a run took: seconds to its first trial and in all, CPU seconds at home and in other processes.

    ``memory`` is the resident memory of the coordinator at the end in MiB, ``record`` the size of its result
    file in bytes.
    """

    first: float
    wall: float
    home: float
    others: float
    memory: float
    record: int


def measured(trials: int, *, on_cluster: bool) -> Cost:
    """Run so many mock trials in a process of its own."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return pool.apply(_measured, (trials, on_cluster))


def _measured(trials: int, on_cluster: bool) -> Cost:
    with tempfile.TemporaryDirectory(prefix="scale-", ignore_cleanup_errors=True) as folder:
        path = mock_suite(Path(folder), trials // TRIALS_PER_TASK, TRIALS_PER_TASK)
        if not on_cluster:
            return _run(path, ThreadBackend)
        with DaskCluster(ClusterAddress(local=WORKERS), lambda sentence: None) as cluster:
            return _run(path, backends_of(cluster))


def _run(path: Path, backend: BackendFactory) -> Cost:
    first: list[float] = []

    def tell(event: RunEvent) -> None:
        if not first and event.trial is not None and event.completed:
            first.append(time.monotonic())

    others, home, began = _others(), time.process_time(), time.monotonic()
    prepared = prepare(RunSettings(path, workers=SLOTS), backend=backend)
    report = prepared.run(tell, RunCancellation())
    assert report.outcome.status == "completed"
    assert report.results_file is not None
    return Cost(
        first[0] - began,
        time.monotonic() - began,
        time.process_time() - home,
        _others() - others,
        psutil.Process().memory_info().rss / 2**20,
        report.results_file.stat().st_size,
    )


def _others() -> float:
    return sum(sum(child.cpu_times()[:2]) for child in psutil.Process().children(recursive=True))


def place_rate(seconds: float = 3.0) -> float:
    """Return how many paid trials a second the folder of a run can note, on this disk."""
    with tempfile.TemporaryDirectory(prefix="scale-", dir=Path.cwd()) as folder:
        place = FolderRunStore(Path(folder, "place"), suite_boundary(Path(folder)))
        place.create()
        numbers, lock, end = iter(range(10**9)), threading.Lock(), time.monotonic() + seconds

        def note() -> int:
            count = 0
            while time.monotonic() < end:
                with lock:
                    number = next(numbers)
                key = f"{number // 1000}/{number}"
                place.claim(key, 1, "w")
                place.permit(key, 1, "w", {})
                place.append(key, {"answer": "x" * 500})
                place.finish(key, {"trial": "x" * 2000})
                count += 1
            return count

        with ThreadPoolExecutor(SLOTS) as pool:
            return sum(future.result() for future in [pool.submit(note) for _ in range(SLOTS)]) / seconds


def main() -> None:
    """Print the table, and what follows from it for a million trials on a thousand workers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, nargs="+", default=[2000])
    options = parser.parse_args()
    say = sys.stdout.write
    say("| mock trials | where | first, s | all, s | CPU ms a trial: home | workers ")
    say("| home, MiB | record, KB a trial |\n")
    say("|--:|---|--:|--:|--:|--:|--:|--:|\n")
    costs: dict[bool, Cost] = {}
    for trials in options.trials:
        for on_cluster in (False, True):
            cost = costs[on_cluster] = measured(trials, on_cluster=on_cluster)
            each = 1000 / trials
            say(
                f"| {trials:,} | {f'`local:{WORKERS}`' if on_cluster else 'threads'} | {cost.first:.1f} "
                f"| {cost.wall:.0f} | {cost.home * each:.1f} | {cost.others * each:.1f} "
                f"| {cost.memory:.0f} | {cost.record / trials / 1000:.1f} |\n"
            )
            sys.stdout.flush()
    say(f"\nThe folder of a run notes {place_rate():.0f} paid trials a second on this disk.\n")
    home = costs[True].home / options.trials[-1]
    slots = 1000 * LOCAL_SLOTS
    say(
        f"A coordinator with its scheduler hands out {1 / home:.0f} trials a second on one processor. "
        f"A thousand workers with {slots:,} slots are busy when a trial takes {slots * home:.0f} s or more; "
        f"a million trials then take {10**6 * home / 3600:.1f} hours.\n"
    )


if __name__ == "__main__":
    main()
