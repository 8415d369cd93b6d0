"""A cluster that Dask starts: SLURM, Kubernetes, SSH and others, by the class that a file names."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from waza_engine.cluster.addresses import checked_address
from waza_engine.runs.loading.suite import SuiteError
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.yaml_reader import read_yaml

if TYPE_CHECKING:
    from distributed.security import Security

PACKAGES = ("distributed", "dask_cloudprovider", "dask_jobqueue", "dask_kubernetes", "dask_yarn")
"""The packages whose classes a file may name: the file must not import anything else."""
_KEYS = {"cluster", "arguments", "workers", "adapt"}


@dataclass(frozen=True, slots=True)
class ClusterFile:
    """A class of clusters and its arguments; ``workers`` to start, or ``adapt`` to what waits."""

    path: Path
    cluster: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    workers: int = 1
    adapt: Mapping[str, int] = field(default_factory=dict[str, int])


def read_cluster_file(path: Path) -> ClusterFile:
    """Return the cluster that a file describes. Raises ``SuiteError`` for one that cannot be used."""
    try:
        written: object = read_yaml(path)
    except SuiteFileError as error:
        raise SuiteError(f"{error}.") from None
    found: Mapping[str, Any] = cast("Mapping[str, Any]", written) if isinstance(written, Mapping) else {}
    if unknown := sorted(map(str, found.keys() - _KEYS)):
        raise SuiteError(f"{path}: `{unknown[0]}` is not known; write {', '.join(sorted(_KEYS))}.")
    name = found.get("cluster")
    if not isinstance(name, str) or name.partition(".")[0] not in PACKAGES:
        raise SuiteError(
            f"{path}: `cluster` names a class of {', '.join(PACKAGES)}, such as `dask_jobqueue.SLURMCluster`."
        )
    arguments: Any = found.get("arguments") or {}
    adapt: Any = found.get("adapt") or {}
    workers: Any = found.get("workers", 1)
    if not isinstance(arguments, Mapping):
        raise SuiteError(f"{path}: `arguments` are those of the class, by name.")
    if not _is_range(adapt):
        raise SuiteError(f"{path}: `adapt` takes whole numbers, such as {{minimum: 1, maximum: 20}}.")
    if not isinstance(workers, int) or workers < 1:
        raise SuiteError(f"{path}: `workers` is a whole number, 1 or more.")
    by_name = {str(key): value for key, value in cast("Mapping[object, Any]", arguments).items()}
    return ClusterFile(path, name, by_name, workers, adapt)


def start_cluster(file: ClusterFile, security: Security | None) -> Any:
    """Return the started cluster, an object of the class.

    Raises ``SuiteError`` when it cannot be started, or its connections are not encrypted.
    """
    module, _, name = file.cluster.rpartition(".")
    try:
        kind = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        package = file.cluster.partition(".")[0].replace("_", "-")
        raise SuiteError(f"{file.path}: there is no `{file.cluster}`; install {package}.") from None
    arguments = dict(file.arguments) if security is None else {**file.arguments, "security": security}
    try:
        cluster = kind(**arguments)
    except Exception as error:  # noqa: BLE001 - it may be anything, and is the author's to mend
        raise SuiteError(f"{file.path}: `{file.cluster}` cannot be started: {error}.") from None
    try:
        checked_address(str(cluster.scheduler_address), f"{file.path}: `{cluster.scheduler_address}`")
        if file.adapt:
            cluster.adapt(**file.adapt)
        else:
            cluster.scale(file.workers)
    except BaseException:
        with suppress(Exception):
            cluster.close()
        raise
    return cluster


def _is_range(adapt: object) -> bool:
    if not isinstance(adapt, Mapping):
        return False
    found = cast("Mapping[object, object]", adapt)
    numbers = [found.get("minimum", 1), found.get("maximum", 1)]
    known = found.keys() <= {"minimum", "maximum"}
    return known and all(isinstance(number, int) and number >= 0 for number in numbers)
