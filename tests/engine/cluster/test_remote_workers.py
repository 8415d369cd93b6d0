"""Workers of a scheduler: what happens when one of the processes of a run is gone, or does not fit."""

import json
import signal
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.command_line import engine, stderr_of
from tests.engine.cluster.ledgers import LedgerSuite, agents_alive, kill, name_of, until, workers_of
from tests.engine.cluster.processes import Cluster, Machine, engine_of
from tests.engine.cluster.processes import engine as machine
from tests.engine.suites import task, write_suite
from tests.patience import ON_A_BUSY_MACHINE, staying
from waza_engine.results.reading.recordings import Recording, read_recording

pytestmark = pytest.mark.check
OTHER_VERSION = """
import sys, waza_engine.version
waza_engine.version.__version__ = "0.0.1"
from waza_engine.cluster.dask_processes import serve_worker
serve_worker(sys.argv[1], None, 2)
"""


def newest(suite: LedgerSuite) -> Recording:
    # Two runs may begin in one second, which is what their names say.
    files = (suite.folder / ".waza" / "results").glob("*.json")
    return read_recording(max(files, key=lambda file: file.stat().st_mtime_ns))


def statuses(recording: Recording) -> dict[str, list[str]]:
    return {task.id: [trial.outcome.status for trial in task.trials] for task in recording.tasks}


def lost(recording: Recording) -> list[str]:
    return [task.id for task in recording.tasks if any(trial.outcome.lost for trial in task.trials)]


def assert_trials_are_asked_once_or_lost(suite: LedgerSuite, is_lost: str, *, tasks: int) -> None:
    found, asked = newest(suite), suite.asked()
    assert set(asked.values()) == {1}
    assert is_lost in lost(found)
    # Another agent of the worker may have been killed before it wrote down its prompt.
    assert asked.keys() | set(lost(found)) == statuses(found).keys()
    assert len(statuses(found)) == tasks


def test_a_worker_without_a_scheduler_says_that_it_waits_and_ends_when_asked() -> None:
    worker = machine("worker", "tcp://127.0.0.1:1")
    worker.wait_for("No scheduler answers at tcp://127.0.0.1:1 so far; this worker waits for it.")
    worker.process.send_signal(signal.SIGTERM)
    assert worker.ended() == 0, worker.text
    worker.close()


def test_a_run_on_a_scheduler(remote: Cluster, tmp_path: Path) -> None:
    suite = LedgerSuite(tmp_path, tasks=6, trials=2)
    run = remote.run(suite.path)
    assert run.ended() == 0, run.text
    assert [*statuses(newest(suite)).values()] == [["passed", "passed"]] * 6
    assert set(suite.asked().values()) == {2}


def test_a_run_whose_coordinator_is_killed_goes_on_and_pays_nothing_twice(
    remote: Cluster, tmp_path: Path
) -> None:
    suite = LedgerSuite(tmp_path, tasks=10)
    suite.slow(name_of(3))
    run = remote.run(suite.path)
    suite.wait_until_stored(name_of(3))
    (journal,) = (tmp_path / ".waza" / "results").glob("*.partial.jsonl")
    with journal.open("rb") as lines:
        kill(json.loads(lines.readline())["process"]["pid"])
    run.ended()
    # Its worker still pays for the trial.
    assert "has not ended; wait for it, or end it" in stderr_of("run", suite.path, "--resume")
    worker = suite.worker_of(name_of(3))
    kill(worker)
    until(lambda: staying(agents_alive(tmp_path), 5.0) == [], "an agent goes on")
    resumed = remote.run(suite.path, "--resume")
    assert resumed.ended() == 4, resumed.text
    assert_trials_are_asked_once_or_lost(suite, name_of(3), tasks=10)
    found, asked = newest(suite), suite.asked()
    suite.go_on()
    again = remote.run(suite.path, "--resume", "--retry", "lost")
    assert again.ended() == 0, again.text
    assert suite.asked() == {name: asked[name] + (name in lost(found)) for name in statuses(found)}


def test_without_its_scheduler_a_run_ends_with_what_workers_still_finish(
    remote: Cluster, tmp_path: Path
) -> None:
    suite = LedgerSuite(tmp_path, tasks=16, seconds=1.0)
    run = remote.run(suite.path)
    suite.wait_until_asked(name_of(4))
    kill(remote.scheduler.process.pid)
    began = time.monotonic()
    assert run.ended() == 2, run.text
    assert time.monotonic() - began < 75
    assert "the scheduler of the cluster does not answer; `--resume` runs the rest" in run.text
    found = newest(suite)
    heard = {name for name, trials in statuses(found).items() if trials}
    assert heard == suite.asked().keys()
    assert lost(found) == []
    resumed = engine("run", suite.path, "--resume", "--workers", 8)
    assert resumed.returncode == 0, resumed.stderr
    assert set(suite.asked().values()) == {1}
    assert len(suite.asked()) == 16


def test_a_frozen_worker_loses_its_lease_and_its_trials(remote: Cluster, tmp_path: Path) -> None:
    suite = LedgerSuite(tmp_path, tasks=8, seconds=0.2)
    suite.slow(name_of(0))
    run = remote.run(suite.path)
    suite.wait_until_stored(name_of(0))
    suite.wait_until_ended(7)
    frozen = suite.worker_of(name_of(0))
    kill(frozen, signal.SIGSTOP)
    assert run.ended(150) == 4, run.text
    kill(frozen, signal.SIGCONT)
    assert staying(agents_alive(tmp_path), 30.0) == []
    # Other tests need one that was not away.
    next(worker for worker in remote.workers if engine_of(worker) == frozen).close()
    assert set(suite.asked().values()) == {1}
    assert len(suite.asked()) == 8
    assert lost(newest(suite)) == [name_of(0)]


@pytest.mark.scale
def test_a_run_without_workers_ends_after_half_a_minute(tmp_path: Path) -> None:
    suite = LedgerSuite(tmp_path, tasks=8)
    suite.slow(name_of(0))
    with Cluster(tmp_path, workers=1) as cluster:
        run = cluster.run(suite.path, "--workers", 1)
        suite.wait_until_stored(name_of(0))
        kill(suite.worker_of(name_of(0)))
        began = time.monotonic()
        assert run.ended() == 2, run.text
        took = time.monotonic() - began
    sys.stdout.write(f"the run ended {took:.0f} s after its last worker\n")
    assert "no worker of the cluster is left; `--resume` runs the rest" in run.text
    assert took < 35 + ON_A_BUSY_MACHINE
    assert lost(newest(suite)) == [name_of(0)]


@pytest.mark.scale
def test_a_worker_that_was_frozen_for_long_works_again(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {f"t{number}": task(f"t{number}") for number in range(6)}, graders=WAITS)
    with Cluster(tmp_path, workers=1) as cluster:
        run = cluster.run(path, "--trials", 8)
        until(lambda: any(tmp_path.glob(".waza/runs/*/trials/*/*.claim")), "no trial began")
        (frozen,) = workers_of(tmp_path)
        kill(frozen, signal.SIGSTOP)
        time.sleep(23)
        kill(frozen, signal.SIGCONT)
        assert run.ended(200) == 0, run.text


@pytest.mark.scale
def test_a_worker_that_is_frozen_when_a_run_begins_is_named(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")})
    with Cluster(tmp_path) as cluster:
        frozen = engine_of(cluster.workers[0])
        kill(frozen, signal.SIGSTOP)
        run = cluster.run(path)
        assert run.ended(120) == 2
        kill(frozen, signal.SIGCONT)
    assert "does not answer; restart it" in run.text


def test_a_run_whose_folder_is_gone_ends_and_asks_nothing_more(remote: Cluster, tmp_path: Path) -> None:
    suite = LedgerSuite(tmp_path, tasks=200, seconds=0.3)
    run = remote.run(suite.path)
    suite.wait_until_asked(name_of(4))
    (tmp_path / ".waza" / "runs").rename(tmp_path / "elsewhere")
    assert run.ended(120) == 2, run.text
    asked = suite.asked()
    time.sleep(2)
    assert suite.asked() == asked
    assert "cannot be used" in run.text
    assert set(asked.values()) == {1}


def test_a_worker_that_joins_gets_trials_and_one_that_leaves_costs_nothing(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {f"t{number}": task(f"t{number}") for number in range(8)}, graders=WAITS)
    with Cluster(tmp_path, workers=1) as cluster:
        run = cluster.run(path, "--trials", 3)
        until(lambda: any(tmp_path.glob(".waza/runs/*/workers/*")), "no trial began")
        joined = cluster.add_worker()
        until(lambda: len([*tmp_path.glob(".waza/runs/*/workers/*")]) == 2, "the second worker is idle")
        cluster.workers[0].close()
        assert run.ended() == 0, run.text
    (record,) = (tmp_path / ".waza" / "results").glob("*.json")
    assert [*statuses(read_recording(record)).values()] == [["passed"] * 3] * 8
    assert "works for" in joined.text


WAITS = "- {type: program, name: waits, config: {command: sleep, args: ['1.5'], timeout: 60}}\n"


def test_a_worker_of_another_version_gets_nothing_and_the_run_says_why(tmp_path: Path) -> None:
    suite = LedgerSuite(tmp_path, tasks=2)
    # On this machine, no certificates are needed.
    with Cluster(tmp_path, workers=0, is_plain=True) as cluster:
        other = Machine("-u", "-c", OTHER_VERSION, cluster.address)
        cluster.workers.append(other)
        other.wait_for("works for")
        run = cluster.run(suite.path)
        assert run.ended() == 2
        assert "has waza-engine 0.0.1, and this machine" in run.text
        assert len(run.text.strip().splitlines()) == 1
        cluster.add_worker().wait_for("works for")
        run = cluster.run(suite.path)
        assert run.ended() == 0, run.text
        assert "install the same on both" in run.text
    assert [*statuses(newest(suite)).values()] == [["passed"]] * 2
    assert set(suite.asked().values()) == {1}


@pytest.mark.scale
def test_wrong_certificates_are_one_sentence_each(tmp_path: Path) -> None:
    suite = LedgerSuite(tmp_path, tasks=1)
    with Cluster(tmp_path, workers=0) as cluster:
        other = Cluster(tmp_path / "other", workers=0)
        assert stderr_of("run", suite.path, "--cluster", cluster.address, "--tls", other.certificates) == (
            f"The scheduler {cluster.address} cannot be reached: it has other certificates; "
            "copy the folder of `--tls` from there.\n"
        )
        plain = engine("run", suite.path, "--cluster", cluster.address.replace("tls", "tcp"))
        assert "write `tls://` for one with certificates" in plain.stderr
        none = engine("run", suite.path, "--cluster", cluster.address)
        assert "`waza-engine cluster certificates` makes them" in none.stderr
        alone = cluster.run(suite.path)
        assert alone.ended() == 2
        assert "has no worker; `waza-engine worker` starts one" in alone.text
    assert not suite.asked()


# Long enough that the last worker still finds work.
LONG = WAITS.replace("1.5", "5")


@pytest.mark.scale
def test_a_cluster_that_grows_and_shrinks_finishes_everything(tmp_path: Path) -> None:
    """The times that are printed are those from the name of a worker to its first trial."""
    path = write_suite(
        tmp_path, {name_of(number): task(name_of(number)) for number in range(40)}, graders=LONG
    )
    with Cluster(tmp_path) as cluster:
        run = cluster.run(path, "--trials", 3)
        leases = tmp_path / ".waza" / "runs"
        until(lambda: len([*leases.glob("*/workers/*")]) == 2, "not both workers have work")
        for number in range(3, 9):
            worker = cluster.add_worker()
            worker.wait_for("works for")
            ready = time.monotonic()
            until(lambda number=number: len([*leases.glob("*/workers/*")]) == number, f"{number} is idle")
            sys.stdout.write(f"worker {number} had work after {time.monotonic() - ready:.1f} s\n")
        for worker in cluster.workers[1:]:
            worker.process.send_signal(signal.SIGTERM)
        assert run.ended(400) == 0, run.text
    (record,) = (tmp_path / ".waza" / "results").glob("*.json")
    assert [*statuses(read_recording(record)).values()] == [["passed"] * 3] * 40


@pytest.mark.scale
def test_a_new_worker_reads_only_the_files_of_its_trials(tmp_path: Path) -> None:
    """Ten thousand task files: the time to the first trial of a worker is printed."""
    names = [f"t{number:05}" for number in range(10_000)]
    path = write_suite(tmp_path, {name: task(name) for name in names}, graders=WAITS)
    with Cluster(tmp_path, workers=1) as cluster:
        run = cluster.run(path)
        leases = tmp_path / ".waza" / "runs"
        until(lambda: any(leases.glob("*/workers/*")), "no trial began")
        worker = cluster.add_worker()
        worker.wait_for("works for")
        ready, process = time.monotonic(), psutil.Process(engine_of(worker))
        before = sum(process.cpu_times()[:2])
        until(lambda: len([*leases.glob("*/workers/*")]) == 2, "the second worker is idle")
        until(lambda: any(process.children(recursive=True)), "its grader does not begin")
        took, used = time.monotonic() - ready, sum(process.cpu_times()[:2]) - before
        sys.stdout.write(f"the first trial began after {took:.1f} s, {used:.1f} s of processor time\n")
        # To read all files takes ten seconds or more.
        assert used < 5
        run.process.send_signal(signal.SIGINT)
        run.ended()
