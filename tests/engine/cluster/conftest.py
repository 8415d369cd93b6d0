"""A cluster of two workers on this machine, opened once for all tests of a process."""

from collections.abc import Iterator

import pytest

pytest.importorskip("distributed")

from waza_engine.cluster.addresses import ClusterAddress
from waza_engine.cluster.dask_cluster import DaskCluster


@pytest.fixture(scope="session")
def cluster() -> Iterator[DaskCluster]:
    warnings: list[str] = []
    with DaskCluster(ClusterAddress(local=2), warnings.append) as opened:
        yield opened
    assert warnings == []
