"""Clusters of two workers each: one in this process, and one of processes as on other machines.

Each is opened once for all tests of a process, or of a module.
"""

from collections.abc import Iterator

import pytest

pytest.importorskip("distributed")

from tests.engine.cluster.object_stores import ObjectServer, object_server
from tests.engine.cluster.processes import Cluster
from waza_engine.cluster.addresses import ClusterAddress
from waza_engine.cluster.dask_cluster import DaskCluster


@pytest.fixture(scope="session")
def cluster() -> Iterator[DaskCluster]:
    warnings: list[str] = []
    with DaskCluster(ClusterAddress(local=2), warnings.append) as opened:
        yield opened
    assert warnings == []


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture
def remote(machines: Cluster) -> Cluster:
    machines.repair()
    return machines


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ObjectServer]:
    with object_server(monkeypatch) as running:
        yield running
