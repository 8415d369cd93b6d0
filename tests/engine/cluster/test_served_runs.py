"""Runs of an editor on a cluster: what it hears is what it hears of threads."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("distributed")

from tests.engine.cluster.ledgers import LedgerSuite, agents_alive
from tests.engine.serve.client import Engine
from tests.engine.suites import GREETS, task, write_suite
from tests.patience import staying

pytestmark = pytest.mark.check


def events_of(engine: Engine, path: Path, **options: str) -> list[dict[str, Any]]:
    engine.run(path, **options)
    return engine.events_until("ended")


def comparable(events: list[dict[str, Any]]) -> list[str]:
    told = ("kind", "task", "trial", "grader", "status", "score", "message")
    found = [{name: event[name] for name in told if name in event} for event in events]
    return sorted(map(str, found))


@pytest.fixture(scope="module", autouse=True)
def unanswered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A run on a scheduler that does not answer, begun before all tests: Dask tries for thirty seconds."""
    with Engine() as engine:
        path = write_suite(tmp_path_factory.mktemp("suite"), {"a": task("a")})
        engine.run(path, cluster="tcp://127.0.0.1:1")
        yield engine


def test_an_editor_hears_of_a_run_on_a_cluster_what_it_hears_of_threads(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {name: task(name) for name in ("a", "b")}, graders=GREETS)
    with Engine() as engine:
        threads = events_of(engine, path)
        workers = events_of(engine, path, cluster="local:1")
    assert workers[-1]["status"] == "completed"
    assert comparable(workers) == comparable(threads)


def test_a_run_that_is_cancelled_while_its_cluster_starts_ends_at_once(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    with Engine() as engine:
        run_id = engine.run(path, cluster="local:1")
        assert engine.next_event()["kind"] == "run_started"
        engine.request("run.cancel", run_id=run_id)
        events = engine.events_until("ended")
        assert events[-1]["status"] == "canceled"
        assert not any(event["kind"] == "started" for event in events)


def test_a_cancelled_run_of_an_editor_ends_its_agents_on_the_workers(tmp_path: Path) -> None:
    suite = LedgerSuite(tmp_path, tasks=4)
    suite.slow("t000")
    with Engine() as engine:
        run_id = engine.run(suite.path, cluster="local:1")
        suite.wait_until_stored("t000")
        engine.request("run.cancel", run_id=run_id)
        assert engine.events_until("ended")[-1]["status"] == "canceled"
        assert staying(agents_alive(tmp_path)) == []


@pytest.mark.parametrize(
    ("cluster", "sentence"),
    [
        ("local:0", "`--cluster local:0`: write 1 to 64 workers."),
        ("tcp://example.org:8786", "is not encrypted, and a scheduler executes whatever it is sent"),
    ],
)
def test_a_cluster_that_cannot_be_used_is_refused_before_the_run(
    cluster: str, sentence: str, tmp_path: Path
) -> None:
    path = write_suite(tmp_path, {"a": task("a")})
    with Engine() as engine:
        answer = engine.request("eval.run", path=str(path), cluster=cluster)
    assert sentence in answer["error"]["message"]


def test_a_scheduler_that_does_not_answer_ends_the_run_with_a_sentence(unanswered: Engine) -> None:
    ended = unanswered.events_until("ended")[-1]
    assert ended["status"] == "error"
    assert ended["message"] == "The scheduler tcp://127.0.0.1:1 cannot be reached: nothing answers there."
