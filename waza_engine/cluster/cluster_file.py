"""A cluster that Dask starts: SLURM, Kubernetes, SSH and others, by the class that a file names."""

from __future__ import annotations

import importlib
import importlib.util
import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from waza_engine.cluster.addresses import checked_address
from waza_engine.later_patterns import compiled_later
from waza_engine.runs.loading.suite_on_disk import SuiteError
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.yaml_reader import read_yaml

if TYPE_CHECKING:
    from distributed.security import Security

PACKAGES = ("distributed", "dask_cloudprovider", "dask_jobqueue", "dask_kubernetes", "dask_yarn")
"""The packages whose classes a file may name: the file must not import or call anything else."""
_CLUSTER_CLASS = compiled_later(rf"(?:{'|'.join(PACKAGES)})(?:\.\w+)*\.\w*Cluster")
# As Dask says so: "SSHCluster requires the `asyncssh` package".
_NAMED_PACKAGE = compiled_later(r"`(\w[\w.-]*)` package")
_KEYS = {"cluster", "arguments", "workers", "adapt"}


@dataclass(frozen=True, slots=True)
class ClusterFile:
    """A class of clusters and its arguments; ``workers`` to start, or ``adapt`` to what waits.

    Without both, its arguments decide how many workers it starts.
    """

    path: Path
    cluster: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    workers: int | None = None
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
    if not isinstance(name, str) or not _CLUSTER_CLASS.fullmatch(name):
        raise SuiteError(
            f"{path}: `cluster` names a class of clusters, such as `dask_jobqueue.SLURMCluster`, "
            f"of one of the packages {', '.join(PACKAGES)}."
        )
    arguments: Any = found.get("arguments") or {}
    adapt: Any = found.get("adapt") or {}
    workers: Any = found.get("workers")
    if not isinstance(arguments, Mapping):
        raise SuiteError(f"{path}: `arguments` are those of the class, by name.")
    if not _is_range(adapt):
        raise SuiteError(
            f"{path}: `adapt` takes whole numbers, the lower one first: {{minimum: 1, maximum: 20}}."
        )
    if workers is not None and (not isinstance(workers, int) or workers < 1):
        raise SuiteError(f"{path}: `workers` is a whole number, 1 or more.")
    by_name = {str(key): value for key, value in cast("Mapping[object, Any]", arguments).items()}
    return ClusterFile(path, name, by_name, workers, adapt)


def start_cluster(file: ClusterFile, security: Security | None) -> Any:
    """Return the started cluster, an object of the class.

    Raises ``SuiteError`` when it cannot be started, or its connections are not encrypted.
    """
    if security is not None:
        _hand_on(security)
    kind = _class_of(file)
    arguments = dict(file.arguments) if security is None else {**file.arguments, "security": security}
    try:
        cluster = kind(**arguments)
    except Exception as error:  # noqa: BLE001 - it may be anything, and is the author's to mend
        if package := _missing_package(error):
            raise SuiteError(f"{file.path}: `{file.cluster}` needs {package}; install it.") from None
        raise SuiteError(f"{file.path}: `{file.cluster}` cannot be started: {_reason(error)}.") from None
    try:
        checked_address(str(cluster.scheduler_address), f"{file.path}: `{cluster.scheduler_address}`")
        if file.adapt:
            cluster.adapt(**file.adapt)
        elif file.workers is not None:
            cluster.scale(file.workers)
    except BaseException:
        with suppress(Exception):
            cluster.close()
        raise
    return cluster


def _class_of(file: ClusterFile) -> Callable[..., Any]:
    module, _, name = file.cluster.rpartition(".")
    package = module.partition(".")[0]
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        missing = _missing_package(error)
        if missing in ("", package) and importlib.util.find_spec(package) is not None:
            raise SuiteError(f"{file.path}: there is no `{file.cluster}`; name another class.") from None
        install = (missing or package).replace("_", "-")
        raise SuiteError(f"{file.path}: there is no `{file.cluster}`; install {install}.") from None


def _reason(error: BaseException) -> str:
    """Return the first cause of an error in one line: Dask says that a scheduler "failed to start"."""
    while cause := error.__cause__ or error.__context__:
        error = cause
    return " ".join(str(error).replace("\\n", " ").split()).rstrip(".") or type(error).__name__


def _hand_on(security: Security) -> None:
    """Put certificates into Dask's settings: processes that a class starts by SSH get these alone."""
    import dask.config

    files = {
        f"distributed.comm.tls.{role}.{kind}": getattr(security, f"tls_{role}_{kind}")
        for role in ("client", "scheduler", "worker")
        for kind in ("cert", "key")
    }
    dask.config.set(
        {
            **files,
            "distributed.comm.tls.ca-file": security.tls_ca_file,
            "distributed.comm.default-scheme": "tls",
            "distributed.comm.require-encryption": True,
        }
    )


def _missing_package(error: BaseException | None) -> str:
    """Return the package that is missing according to an error or one of its causes, "" if none is."""
    while error is not None:
        if isinstance(error, ImportError) and not isinstance(error, ModuleNotFoundError):
            found = _NAMED_PACKAGE.search(str(error))
            return found[1] if found else ""
        if isinstance(error, ModuleNotFoundError):
            return (error.name or "").partition(".")[0]
        error = error.__cause__ or error.__context__
    return ""


def _is_range(adapt: object) -> bool:
    if not isinstance(adapt, Mapping):
        return False
    found = cast("Mapping[object, object]", adapt)
    known = found.keys() <= {"minimum", "maximum"}
    if not known or not all(isinstance(number, int) and number >= 0 for number in found.values()):
        return False
    return cast("int", found.get("minimum", 0)) <= cast("float", found.get("maximum", math.inf))
