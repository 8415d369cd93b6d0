"""A file names a class of Dask that starts the cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("distributed")

from tests.engine.cluster.processes import engine
from tests.engine.suites import task, write_suite

pytestmark = pytest.mark.check
LOCAL = """\
cluster: distributed.LocalCluster
arguments:
  {n_workers: 0, threads_per_worker: 2, host: HOST, dashboard_address: '127.0.0.1:0', silence_logs: 50}
"""
WAITS = "- {type: program, name: waits, config: {command: sleep, args: ['1.5'], timeout: 60}}\n"


def cluster_file(folder: Path, text: str, host: str = "127.0.0.1") -> Path:
    path = folder / "cluster.yaml"
    path.write_text(text.replace("HOST", host), "utf-8")
    return path


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DASK_TEMPORARY_DIRECTORY", str(tmp_path))


@pytest.mark.parametrize("how", ["workers: 1\n", "adapt: {minimum: 1, maximum: 2}\n"])
def test_trials_run_on_workers_that_dask_has_started(tmp_path: Path, how: str) -> None:
    path = write_suite(tmp_path, {f"t{number}": task(f"t{number}") for number in range(8)}, graders=WAITS)
    described = cluster_file(tmp_path, LOCAL + how)
    run = engine("run", path, "--cluster", described, "--trials", 2)
    assert run.ended() == 0, run.text
    assert "8 of 8 tasks passed" in run.text


def test_a_cluster_that_is_not_encrypted_is_refused(tmp_path: Path) -> None:
    described = cluster_file(tmp_path, LOCAL, host="0.0.0.0")
    found = engine("cluster", "check", described)
    assert found.ended() == 2
    assert "is not encrypted" in found.text


def test_a_check_says_how_much_runs_at_a_time(tmp_path: Path) -> None:
    found = engine("cluster", "check", "local:1")
    assert found.ended() == 0
    assert found.text == "local:1: 4 trials at a time\n"
    missing = engine("cluster", "check", cluster_file(tmp_path, "cluster: dask_jobqueue.SLURMCluster\n"))
    assert missing.ended() == 2
    assert "there is no `dask_jobqueue.SLURMCluster`; install dask-jobqueue." in missing.text
