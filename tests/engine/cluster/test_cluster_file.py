"""A file names a class of Dask that starts the cluster."""

import copy
import importlib.metadata
import re
import sys
from pathlib import Path

import pytest

import waza_engine

pytest.importorskip("distributed")

import dask.config

from tests.command_line import engine as command
from tests.engine.cluster.processes import engine
from tests.engine.suites import task, write_suite
from waza_engine.cluster.certificates import make_certificates, security_of
from waza_engine.cluster.cluster_file import read_cluster_file, start_cluster
from waza_engine.runs.loading.suite_on_disk import SuiteError

pytestmark = pytest.mark.check
LOCAL = """\
cluster: distributed.LocalCluster
arguments:
  {n_workers: 0, threads_per_worker: 2, host: HOST, dashboard_address: '127.0.0.1:0', silence_logs: 50}
"""
WAITS = "- {type: program, name: waits, config: {command: sleep, args: ['1'], timeout: 60}}\n"


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
    run = engine("run", path, "--cluster", described)
    assert run.ended() == 0, run.text
    assert "8 of 8 tasks passed" in run.text


def test_a_cluster_that_is_not_encrypted_is_refused(tmp_path: Path) -> None:
    described = cluster_file(tmp_path, LOCAL, host="0.0.0.0")
    found = engine("cluster", "check", described)
    assert found.ended() == 2
    assert "is not encrypted" in found.text


def test_processes_that_are_started_elsewhere_get_the_certificates(tmp_path: Path) -> None:
    make_certificates(tmp_path / "certificates")
    security = security_of(tmp_path / "certificates", "tls:")
    # SSHCluster sends its settings to the other machine.
    comm = copy.deepcopy(dask.config.get("distributed.comm"))
    with dask.config.set({"distributed.comm": comm, "temporary-directory": str(tmp_path)}):
        start_cluster(read_cluster_file(cluster_file(tmp_path, LOCAL)), security).close()
        comm, folder = dask.config.get("distributed.comm"), tmp_path / "certificates"
    assert (comm["default-scheme"], comm["require-encryption"]) == ("tls", True)
    assert comm["tls"]["ca-file"] == comm["tls"]["worker"]["cert"] == str(folder / "certificate.pem")
    assert comm["tls"]["scheduler"]["key"] == str(folder / "key.pem")


def test_a_check_names_the_workers_and_how_much_runs_at_a_time(tmp_path: Path) -> None:
    store = (tmp_path / "store").as_uri()
    found = engine("cluster", "check", "local:1", "--store", store)
    assert found.ended() == 0
    worker, stored, all_in_all = found.text.splitlines()
    assert re.fullmatch(
        r"tls://127\.0\.0\.1:\d+: 4 slots, .*, Python 3\S+, \d+ GiB free, programs: .*", worker
    )
    assert stored == f"{store}: all workers can use it"
    assert all_in_all == "local:1: 4 trials at a time"
    assert not [*(tmp_path / "store").rglob("*.json")]


@pytest.mark.parametrize(
    ("described", "words"),
    [
        (
            "cluster: dask_jobqueue.SLURMCluster\n",
            "there is no `dask_jobqueue.SLURMCluster`; install dask-jobqueue.",
        ),
        (
            "cluster: dask_kubernetes.operator.KubeCluster\n",
            "there is no `dask_kubernetes.operator.KubeCluster`; install dask-kubernetes.",
        ),
        (
            "cluster: distributed.SSHCluster\narguments: {hosts: [localhost, localhost]}\n",
            "`distributed.SSHCluster` needs asyncssh; install it.",
        ),
        ("cluster: distributed.NoCluster\n", "there is no `distributed.NoCluster`; name another class."),
        ("cluster: distributed.no.Cluster\n", "there is no `distributed.no.Cluster`; name another class."),
        (
            "cluster: distributed.SSHCluster\narguments: {hosts: []}\n",
            "`distributed.SSHCluster` cannot be started: ",
        ),
    ],
)
def test_a_cluster_that_cannot_be_started_is_one_sentence(tmp_path: Path, described: str, words: str) -> None:
    with pytest.raises(SuiteError) as error:
        start_cluster(read_cluster_file(cluster_file(tmp_path, described)), None)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_an_image_has_the_versions_of_this_machine(tmp_path: Path) -> None:
    file = tmp_path / "Dockerfile"
    assert command("cluster", "image", "-o", file).returncode == 0
    recipe = file.read_text()
    assert f"FROM python:{sys.version_info.major}.{sys.version_info.minor}-slim" in recipe
    assert f'"waza-language-server[agents,scale]=={waza_engine.__version__}"' in recipe
    assert f'"distributed=={importlib.metadata.version("distributed")}"' in recipe
    assert command("cluster", "image").stdout == recipe
    again = command("cluster", "image", "-o", file)
    assert again.returncode == 2
    assert "is there already; name another file" in again.stderr
