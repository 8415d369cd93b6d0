"""Threads, workers, and the merged shards of a run: the same document for every sample suite."""

import contextlib
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("distributed")

from tests.corpus.seed_documents import FENCE, SEEDS, entries_of
from tests.engine.cluster.test_local_cluster import EXAMPLES, document
from tests.engine.runs.recorded_runs import records, rewritten
from tests.engine.suites import task, write_suite
from tests.shared_corpus import needs_corpus, writable_suites
from waza_engine.cluster.dask_backend import backends_of
from waza_engine.cluster.dask_cluster import DaskCluster
from waza_engine.commands.merge import merged_document
from waza_engine.results.codec.run_documents import run_of
from waza_engine.results.reading.recordings import read_recording
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.loading.suite_on_disk import SuiteError
from waza_engine.runs.preparing import prepare
from waza_engine.runs.settings.table import RunSettings
from waza_engine.runs.trials.backend import BackendFactory, ThreadBackend
from waza_engine.spec.problems import SuiteFileError

pytestmark = pytest.mark.check
SHARDS = 3
# What a run names after its own processes and folders.
PASSING = re.compile(r"the worker \S+: |/tmp/waza-[\w.-]+|\bpid \d+")


def recorded(path: Path, backend: BackendFactory, **settings: Any) -> Path | None:
    """Return the result file of a run of a suite with the mock agent, None when it is refused."""
    try:
        prepared = prepare(RunSettings(path, executor="mock", cache=False, **settings), backend=backend)
    except (SuiteError, SuiteFileError):
        return None
    return prepared.run(lambda _: None, RunCancellation()).results_file


def comparable(found: Any) -> Any:
    return json.loads(PASSING.sub("", json.dumps(document(run_of(found)))))


def is_equal_everywhere(path: Path, cluster: DaskCluster) -> bool:
    """Run a suite in threads, on workers, and there in shards; return whether it can run at all."""
    threads = recorded(path, ThreadBackend)
    if threads is None:
        return False
    workers = recorded(path, backends_of(cluster))
    shards = [
        recorded(path, backends_of(cluster), shard=f"{number}/{SHARDS}") for number in range(1, SHARDS + 1)
    ]
    assert workers is not None
    whole = comparable(read_recording(threads).document)
    assert comparable(read_recording(workers).document) == whole, path
    merged = merged_document([read_recording(shard) for shard in shards if shard is not None])
    assert comparable(merged) == whole, path
    return True


@pytest.mark.scale
def test_the_examples(cluster: DaskCluster, tmp_path: Path) -> None:
    copies = Path(shutil.copytree(EXAMPLES, tmp_path / "examples"))
    found = [is_equal_everywhere(path, cluster) for path in sorted(copies.rglob("eval.yaml"))]
    assert sum(found) >= 4


@needs_corpus
@pytest.mark.parametrize("every", [60, pytest.param(1, marks=pytest.mark.scale)])
def test_public_suites(cluster: DaskCluster, tmp_path: Path, every: int) -> None:
    equal = 0
    with writable_suites(tmp_path) as copies:
        for record in records()[::every]:
            root = copies / record["snapshot"]
            path = root / record["path"]
            # Workers have a working directory of their own: the paths of a suite begin at its repository.
            (root / ".git").mkdir(exist_ok=True)
            path.write_text(rewritten(path.read_text("utf-8")), "utf-8")
            with contextlib.chdir(root):
                equal += is_equal_everywhere(path, cluster)
    assert equal > len(records()) // every // 2


@needs_corpus
@pytest.mark.scale
def test_the_graders_of_the_reference_documents(cluster: DaskCluster, tmp_path: Path) -> None:
    equal = 0
    for number, graders in enumerate(grader_blocks()):
        lines = "".join(f"- {json.dumps(entry)}\n" for entry in graders)
        tasks = {name: task(name) for name in ("a", "b", "c")}
        equal += is_equal_everywhere(write_suite(tmp_path / str(number), tasks, graders=lines), cluster)
    assert equal > 20


def grader_blocks() -> Iterator[list[dict[str, Any]]]:
    """Yield the graders of each block of YAML that has some."""
    for file in sorted(SEEDS.glob("*.txt")):
        for language, block in FENCE.findall(file.read_text("utf-8")):
            with contextlib.suppress(yaml.YAMLError):
                found = list(entries_of(yaml.safe_load(block))) if language in ("yaml", "yml") else []
                if found:
                    yield found
