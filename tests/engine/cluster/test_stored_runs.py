"""Runs whose workers see neither the suite nor its folder: an object store has all that they share."""

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("distributed")

from tests.command_line import engine, stderr_of
from tests.engine.cluster.ledgers import LedgerSuite, agents_alive, kill, name_of, until
from tests.engine.cluster.object_stores import BUCKET, ObjectServer, object_server
from tests.engine.cluster.processes import Cluster, Machine
from tests.engine.cluster.processes import engine as engine_process
from tests.engine.cluster.test_local_cluster import document, executed
from tests.engine.cluster.test_remote_workers import (
    assert_trials_are_asked_once_or_lost,
)
from tests.patience import staying
from waza_engine.cluster.addresses import ClusterAddress
from waza_engine.cluster.dask_backend import backends_of
from waza_engine.cluster.dask_cluster import DaskCluster
from waza_engine.results.codec.run_documents import run_of
from waza_engine.results.reading.recordings import read_recording
from waza_engine.runs.trials.backend import ThreadBackend

pytestmark = pytest.mark.check
EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
# A worker on another machine: without the folder, in a working directory and with a home of its own.
ELSEWHERE = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
HIDDEN = (
    'mount -t tmpfs tmpfs "$1" && cd / && HOME="$2" XDG_STATE_HOME="$2" '
    'exec "$3" -u -m waza_engine worker "$4" --slots 2 --tls "$5"'
)


@pytest.fixture(scope="module")
def running() -> Iterator[ObjectServer]:
    """A store whose address the workers of the module have in their environment."""
    with pytest.MonkeyPatch.context() as patch, object_server(patch) as server:
        yield server


@pytest.fixture
def server(running: ObjectServer) -> ObjectServer:
    running.is_broken = False
    running.bodies.clear()
    # Those of a run that a test has broken stay, so that it can be resumed.
    running.objects.clear()
    return running


@pytest.fixture(scope="module")
def machines(running: ObjectServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


def can_hide() -> bool:
    return shutil.which("unshare") is not None and (
        subprocess.run([*ELSEWHERE, "true"], check=False, capture_output=True).returncode == 0
    )


class Elsewhere(Machine):
    """A worker that does not see a folder."""

    def __init__(self, cluster: Cluster, hidden: Path, home: Path) -> None:
        home.mkdir()
        command = [*ELSEWHERE, HIDDEN, "sh", hidden, home, sys.executable, cluster.address, *cluster.tls[1:]]
        super().__init__("-c", "import os, sys; os.execvp('unshare', sys.argv[1:])", *command)


@pytest.mark.skipif(not can_hide(), reason="needs mount namespaces, which only Linux has")
def test_results_of_workers_that_do_not_see_the_suite_are_those_of_threads(
    tmp_path: Path, server: ObjectServer
) -> None:
    examples = Path(shutil.copytree(EXAMPLES, tmp_path / "here" / "examples"))
    paths = [examples / suite / "eval.yaml" for suite in ("code-explainer", "inline-graders", "prompts-file")]
    threads = [executed(path, ThreadBackend)[0] for path in paths]
    with Cluster(tmp_path, workers=0) as cluster:
        worker = Elsewhere(cluster, tmp_path / "here", tmp_path / "home")
        cluster.workers.append(worker)
        worker.wait_for("works for")
        refused = cluster.run(paths[0])
        assert refused.ended() == 2
        assert "on a disk that both machines share. Without such a disk, use `--store`" in refused.text
        runs = [cluster.run(path, "--store", BUCKET) for path in paths]
        for run in runs:
            assert run.ended() in (0, 1), run.text
    for path, expected in zip(paths, threads, strict=True):
        record = max((path.parent / ".waza" / "results").glob("*.json"))
        found = document(run_of(read_recording(record).document))
        assert found["tasks"] == document(expected)["tasks"], path
    assert not server.objects


def test_a_killed_worker_and_a_killed_coordinator_pay_nothing_twice_with_a_store(
    remote: Cluster, tmp_path: Path, server: ObjectServer
) -> None:
    suite = LedgerSuite(tmp_path, tasks=10)
    suite.slow(name_of(3))
    run = remote.run(suite.path, "--store", BUCKET)
    until(lambda: any(b"fine" in body and b'"t003"' in body for body in server.bodies), "no answer")
    (journal,) = (tmp_path / ".waza" / "results").glob("*.partial.jsonl")
    kill(json.loads(journal.read_bytes().splitlines()[0])["process"]["pid"])
    run.ended()
    assert f"resume it with `--store {BUCKET}`" in stderr_of("run", suite.path, "--resume")
    # Its worker still pays for the trial.
    refused = engine("run", suite.path, "--resume", "--store", BUCKET)
    assert refused.returncode == 2
    assert "has not ended; wait for it, or end it" in refused.stderr
    kill(worker_of(server, name_of(3)))
    until(lambda: staying(agents_alive(tmp_path), 5.0) == [], "an agent goes on")
    resumed = remote.run(suite.path, "--resume", "--store", BUCKET)
    assert resumed.ended() == 4, resumed.text
    assert_trials_are_asked_once_or_lost(suite, name_of(3), tasks=10)
    assert not server.objects


def worker_of(server: ObjectServer, task_id: str) -> int:
    """Return the process that asks the agent of a task."""
    contents = {
        name: json.loads(content) for name, (content, _) in server.objects.items() if "/bundles/" not in name
    }
    worker = next(
        found["worker"]
        for name, found in contents.items()
        if name.endswith(".asked") and found["asked"]["test_id"] == task_id
    )
    lease = next(found for name, found in contents.items() if name.endswith(f"{worker}.json"))
    return lease["process"]["pid"]


def test_a_store_that_breaks_ends_the_run_and_nothing_more_is_asked(
    remote: Cluster, tmp_path: Path, server: ObjectServer
) -> None:
    suite = LedgerSuite(tmp_path, tasks=200, seconds=0.3)
    run = remote.run(suite.path, "--store", BUCKET)
    suite.wait_until_asked(name_of(4))
    server.is_broken = True
    assert run.ended(150) == 2, run.text
    asked = suite.asked()
    assert staying(agents_alive(tmp_path), 5.0) == []
    assert suite.asked() == asked
    assert re.search(r"s3://runs/run-\S+ cannot be used: it does not answer as a store does", run.text)
    assert set(asked.values()) == {1}


def test_a_run_that_survives_a_short_failure_of_its_store_asks_nothing_twice(
    remote: Cluster, tmp_path: Path, server: ObjectServer
) -> None:
    suite = LedgerSuite(tmp_path, tasks=20, seconds=0.3)
    run = remote.run(suite.path, "--store", BUCKET)
    suite.wait_until_asked(name_of(4))
    server.is_broken = True
    time.sleep(3)
    server.is_broken = False
    assert run.ended(150) == 0, run.text
    assert suite.asked() == dict.fromkeys((name_of(number) for number in range(20)), 1)


def test_a_worker_without_credentials_is_named_before_anything_is_paid(
    tmp_path: Path, server: ObjectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = LedgerSuite(tmp_path, tasks=1)
    with Cluster(tmp_path, workers=0) as cluster:
        monkeypatch.delenv("AWS_ENDPOINT_URL")
        monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
        cluster.add_worker().wait_for("works for")
        monkeypatch.setenv("AWS_ENDPOINT_URL", server.address)
        run = cluster.run(suite.path, "--store", BUCKET)
        check = engine_process("cluster", "check", cluster.address, *cluster.tls, "--store", BUCKET)
        assert run.ended(120) == 2
        assert "it needs the credentials and settings of the store in its own environment" in run.text
        assert check.ended(120) == 2
        cluster.workers.pop().close()
    assert not suite.asked()


def test_keys_are_in_no_object_of_a_store(
    tmp_path: Path, server: ObjectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "s3cr3t-0123456789abcdef"
    suite = LedgerSuite(tmp_path, tasks=2)
    agent = tmp_path / "agent.py"
    agent.write_text(agent.read_text().replace('content="fine"', f'content="fine {secret}"'))
    monkeypatch.setenv("WORKER_API_KEY", secret)
    with DaskCluster(ClusterAddress(local=1), lambda sentence: None, BUCKET) as cluster:
        monkeypatch.delenv("WORKER_API_KEY")
        executed(suite.path, backends_of(cluster), timeout_seconds=8)
    assert any(b"***" in body for body in server.bodies)
    assert not any(secret.encode() in body for body in server.bodies)
    assert not server.objects
