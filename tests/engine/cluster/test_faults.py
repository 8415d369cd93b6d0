"""A sample of faults; ``make scale`` has more."""

from pathlib import Path

import pytest

from tests.engine.cluster.faults import disturbed, mock_suite, unaccounted
from tests.engine.cluster.ledgers import LedgerSuite
from tests.engine.cluster.test_local_cluster import document, executed
from waza_engine.cluster.dask_cluster import DaskCluster
from waza_engine.commands.merge import merged_document
from waza_engine.results.codec.run_documents import run_of
from waza_engine.results.reading.recordings import read_recording
from waza_engine.runs.trials.backend import ThreadBackend

pytestmark = pytest.mark.check


def test_two_thousand_trials_and_five_faults_give_the_results_of_threads(
    cluster: DaskCluster, tmp_path: Path
) -> None:
    path = mock_suite(tmp_path, tasks=200, trials=10)
    found = disturbed(cluster, path, faults=5, seed=7)
    threads, _ = executed(path, ThreadBackend, workers=4)
    assert document(found.outcome)["tasks"] == document(threads)["tasks"]
    assert found.faults == 5


def test_shards_with_faults_are_merged_to_the_results_of_threads(
    cluster: DaskCluster, tmp_path: Path
) -> None:
    path = mock_suite(tmp_path, tasks=40, trials=5)
    shards = [disturbed(cluster, path, faults=1, seed=number, shard=f"{number}/2") for number in (1, 2)]
    assert [shard.faults for shard in shards] == [1, 1]
    files = sorted((tmp_path / ".waza" / "results").glob("*.json"))
    merged = document(run_of(merged_document([read_recording(file) for file in files])))
    threads, _ = executed(path, ThreadBackend, workers=4)
    assert merged["tasks"] == document(threads)["tasks"]


def test_paid_trials_are_asked_once_whatever_happens_to_their_workers(
    cluster: DaskCluster, tmp_path: Path
) -> None:
    suite = LedgerSuite(tmp_path, tasks=20, trials=2, seconds=0.2)
    found = disturbed(cluster, suite.path, faults=2, seed=3)
    assert unaccounted(suite, found.outcome, 2) == []
