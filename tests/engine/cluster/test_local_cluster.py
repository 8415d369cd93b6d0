"""Trials in worker processes: the results of threads, nothing paid twice, and an end in every case."""

import errno
import json
import re
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.command_line import stderr_of
from tests.conftest import StartModel
from tests.engine.cluster.ledgers import (
    LedgerSuite,
    agents_alive,
    kill,
    name_of,
    until,
    waits_once,
    workers_of,
)
from tests.engine.executors.agents import write_agent
from tests.engine.runs.test_shards import timeless
from tests.engine.suites import present, statuses, task, write_prompts, write_suite
from tests.patience import ON_A_BUSY_MACHINE, staying
from tests.scripted_model import Answer
from waza_engine.cluster import local_workers
from waza_engine.cluster.addresses import ClusterAddress
from waza_engine.cluster.certificates import make_certificates
from waza_engine.cluster.dask_backend import backends_of
from waza_engine.cluster.dask_cluster import DaskCluster
from waza_engine.results.codec.run_documents import run_document
from waza_engine.results.conclusion import conclude
from waza_engine.results.record import RunOutcome
from waza_engine.runs.events.stream import RunEvent
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.preparing import prepare
from waza_engine.runs.settings.table import RunSettings
from waza_engine.runs.trials.backend import BackendFactory, ThreadBackend

pytestmark = pytest.mark.check
EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def executed(
    path: Path, backend: BackendFactory, during: Callable[[], None] = lambda: None, **settings: Any
) -> tuple[RunOutcome, list[RunEvent]]:
    """Run a suite; ``during`` is called in another thread meanwhile."""
    events: list[RunEvent] = []
    cancellation = settings.pop("cancellation", RunCancellation())
    prepared = prepare(RunSettings(path, **settings), backend=backend)
    disturbing = threading.Thread(target=during)
    disturbing.start()
    outcome = prepared.run(events.append, cancellation).outcome
    disturbing.join()
    return outcome, events


def document(outcome: RunOutcome) -> Any:
    """Return a result document without times and names of temporary folders."""
    text = json.dumps(run_document(outcome))
    text = re.sub(r'("captured_at": |"workspace_dir": )"[^"]*"', r'\1""', text)
    return timeless(json.loads(text))


@pytest.mark.parametrize("suite", ["code-explainer", "inline-graders", "prompts-file"])
@pytest.mark.parametrize("baseline", [False, True])
def test_results_equal_those_of_threads(
    cluster: DaskCluster, suite: str, baseline: bool, copied_examples: Path
) -> None:
    path = copied_examples / suite / "eval.yaml"
    threads, told = executed(path, ThreadBackend, baseline=baseline)
    workers, also_told = executed(path, backends_of(cluster), baseline=baseline)
    assert document(workers) == document(threads)
    assert sorted(without_times(also_told)) == sorted(without_times(told))


@pytest.fixture
def copied_examples(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLES, tmp_path / "examples"))


def without_times(events: list[RunEvent]) -> list[str]:
    """Return events without what differs from run to run; trigger prompts are numbered as they end."""
    moving = {"run_id", "sequence", "results_file", "completed"}
    found = [{key: item for key, item in event.document().items() if key not in moving} for event in events]
    return [
        json.dumps(timeless(event), sort_keys=True)
        for event in found
        if not str(event.get("message")).startswith("trigger prompt")
    ]


def test_a_killed_worker_loses_its_paid_trial_and_no_other(cluster: DaskCluster, tmp_path: Path) -> None:
    suite = LedgerSuite(tmp_path, tasks=12)
    suite.slow("t003")

    def kill_worker() -> None:
        suite.wait_until_stored("t003")
        suite.wait_until_ended(11)
        kill(suite.worker_of("t003"))

    outcome, _ = executed(suite.path, backends_of(cluster), kill_worker)
    assert set(suite.asked().values()) == {1}
    assert [task.id for task in outcome.tasks if any(trial.lost for trial in task.trials)] == ["t003"]
    (trial,) = next(task for task in outcome.tasks if task.id == "t003").trials
    assert (trial.status, trial.output) == ("error", "fine")
    assert "may have been paid for" in trial.error
    assert {name for name, found in statuses(outcome).items() if found == ["passed"]} == {
        name_of(number) for number in range(12)
    } - {"t003"}
    assert conclude(outcome).verdict == "errored"
    assert staying(agents_alive(tmp_path), 5.0) == []
    assert not (tmp_path / ".waza" / "runs").exists()


def test_a_trial_that_costs_nothing_runs_again_when_its_worker_is_killed(
    cluster: DaskCluster, tmp_path: Path
) -> None:
    marker = tmp_path / "marker"
    path = write_suite(tmp_path, {"a": task("a"), "b": task("b")}, graders=waits_once(marker))

    def kill_worker() -> None:
        until(marker.exists, "no grader began")
        kill(next(workers_of(tmp_path)))

    outcome, _ = executed(path, backends_of(cluster), kill_worker, workers=1)
    assert statuses(outcome) == {"a": ["passed"], "b": ["passed"]}


def test_a_run_whose_workers_cannot_be_replaced_ends_within_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = LedgerSuite(tmp_path, tasks=8)
    suite.slow("t000")
    killed: list[float] = []

    def no_memory(*_: object, **__: object) -> None:
        raise OSError(errno.ENOMEM, "no memory")

    def kill_worker() -> None:
        suite.wait_until_stored("t000")
        monkeypatch.setattr(local_workers, "start_marked", no_memory)
        kill(suite.worker_of("t000"))
        killed.append(time.monotonic())

    with DaskCluster(ClusterAddress(local=1), lambda sentence: None) as cluster:
        outcome, _ = executed(suite.path, backends_of(cluster), kill_worker, workers=1)
    assert outcome.message == "no worker of the cluster is left; `--resume` runs the rest"
    assert time.monotonic() - killed[0] < 10 + ON_A_BUSY_MACHINE
    assert statuses(outcome) == {name_of(0): ["error"], **{name_of(number): [] for number in range(1, 8)}}


def test_a_cancelled_run_ends_at_once_with_its_agents_and_keeps_answers(
    cluster: DaskCluster, tmp_path: Path
) -> None:
    suite = LedgerSuite(tmp_path, tasks=20)
    suite.slow(*(name_of(number) for number in range(4, 20)))
    cancellation = RunCancellation()

    def cancel() -> None:
        suite.wait_until_asked("t005")
        suite.wait_until_stored("t005")
        cancellation.request(by_person=True)

    outcome, events = executed(suite.path, backends_of(cluster), cancel, cancellation=cancellation)
    assert outcome.status == "canceled"
    assert events[-1].kind == "ended"
    assert staying(agents_alive(tmp_path), 5.0) == []
    cut = {task.id: trial for task in outcome.tasks for trial in task.trials if trial.stopped}
    passed = {name for name, found in statuses(outcome).items() if found == ["passed"]}
    # An agent that was ended while it started has not written its line.
    assert cut.keys() | passed >= suite.asked().keys()
    assert cut["t005"].output == "fine"
    assert set(suite.asked().values()) == {1}


def test_the_budget_counts_all_workers(cluster: DaskCluster, tmp_path: Path) -> None:
    suite = LedgerSuite(tmp_path, tasks=40)
    outcome, _ = executed(suite.path, backends_of(cluster), max_tokens=1000)
    assert present(outcome.spending).tokens == 100 * suite.asked().total()
    assert outcome.limit.startswith("the limit of 1,000 tokens is reached")
    assert suite.asked().total() == 10
    assert conclude(outcome).exit_code == 3


SPENDS = """\
    say(type="result", content="fine", tokens=100)
    with open("LEDGER", "a") as ledger:
        ledger.write(sys.argv[sys.argv.index("-p") + 1].split()[0] + "\\n")
"""


def test_a_trial_that_spends_a_multiple_of_the_others_is_ended(cluster: DaskCluster, tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    usage = {"usage": {"output_tokens": "$.tokens"}}
    write_agent(tmp_path, SPENDS.replace("LEDGER", str(ledger)), sessionMode="iterative", **{"x-waza": usage})
    config = "config: {timeout_seconds: 60, executor: command, adapter: adapter.json, trials_per_task: 1}\n"
    more = ", ".join(["dear"] * 10)
    tasks = {
        "a": task("a", prompt="usual"),
        "b": task("b").replace("{prompt: Say hello}", f"{{prompt: dear, follow_up_prompts: [{more}]}}"),
    }
    outcome, _ = executed(
        write_suite(tmp_path, tasks, config=config), backends_of(cluster), max_tokens=5000, workers=1
    )
    first, *dear = ledger.read_text().splitlines()
    assert (first, len(dear)) == ("usual", 5)
    (trial,) = outcome.tasks[1].trials
    assert trial.status == "error"
    assert "has spent a multiple of what others of its task cost" in trial.error
    assert outcome.limit == ""


NOTES = """\
    with open("LEDGER", "a") as ledger:
        ledger.write(f"{sys.argv[-1]} {os.environ.get('WHERE', 'on a worker')}\\n")
    say(type="result", content="fine")
"""
HOOKS = ("before_run", "before_task", "after_task", "after_run")


def test_hooks_of_tasks_and_trigger_prompts_run_once_and_where_trials_run(
    cluster: DaskCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = tmp_path / "ledger"
    write_agent(tmp_path, NOTES.replace("LEDGER", str(ledger)))
    config = "config: {trials_per_task: 2, timeout_seconds: 60, executor: command, adapter: adapter.json}\n"
    hooks = "".join(
        f"  {name}: [{{command: python3 agent.py {name}, working_directory: .}}]\n" for name in HOOKS
    )
    tasks = {name: task(name, prompt=name) for name in ("a", "b")}
    path = write_suite(tmp_path, tasks, config=f"{config}hooks:\n{hooks}")
    write_prompts(tmp_path, "yes-please", should_not=["no-thanks"])
    # Workers were started before, so they do not have it.
    assert cluster.slots
    monkeypatch.setenv("WHERE", "at home")
    executed(path, backends_of(cluster))
    assert Counter(ledger.read_text().splitlines()) == {
        "before_run at home": 1,
        "before_task on a worker": 2,
        "a on a worker": 2,
        "b on a worker": 2,
        "after_task on a worker": 2,
        "yes-please on a worker": 1,
        "no-thanks on a worker": 1,
        "after_run at home": 1,
    }


@pytest.mark.scale
def test_the_scheduler_on_this_machine_refuses_strangers(cluster: DaskCluster, tmp_path: Path) -> None:
    assert cluster.slots
    connections = psutil.Process().net_connections("inet")
    listening = [each.laddr for each in connections if each.status == psutil.CONN_LISTEN]
    assert {run_store.ip for run_store in listening} == {"127.0.0.1"}
    suite = LedgerSuite(tmp_path, tasks=1)
    make_certificates(tmp_path / "others")
    for run_store in listening:
        address = f"://127.0.0.1:{run_store.port}"
        for options in ([f"tls{address}", "--tls", tmp_path / "others"], [f"tcp{address}"]):
            assert "cannot be reached" in stderr_of("run", suite.path, "--cluster", *options)
    assert not suite.asked()


def test_a_key_that_a_worker_lacks_is_named_and_nothing_is_asked(
    cluster: DaskCluster, scripted_model: StartModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = scripted_model(Answer("fine"))
    provider = f"provider: {{base_url: {model.base_url}, api_key_env: KEY_OF_THE_SHOP}}"
    config = f"config: {{timeout_seconds: 60, executor: openai, model: gpt-4o, {provider}}}\n"
    path = write_suite(tmp_path, {"a": task("a")}, config=config)
    # Workers were started before, so they do not have it.
    assert cluster.slots
    monkeypatch.setenv("KEY_OF_THE_SHOP", "sk-of-the-shop")
    outcome, _ = executed(path, backends_of(cluster))
    (trial,) = outcome.tasks[0].trials
    assert trial.status == "error"
    assert "`KEY_OF_THE_SHOP`" in trial.error
    assert "\n" not in trial.error
    assert model.requests == []


def test_a_key_of_a_worker_is_in_no_file_and_no_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "s3cr3t-0123456789abcdef"
    suite = LedgerSuite(tmp_path, tasks=2)
    suite.slow("t000")
    agent = tmp_path / "agent.py"
    agent.write_text(
        agent.read_text().replace('content="fine"', f'content="fine {secret[:6]}" + "{secret[6:]}"')
    )
    seen: list[str] = []

    def look() -> None:
        suite.wait_until_stored("t000")
        files = [file for file in (tmp_path / ".waza").rglob("*") if file.is_file()]
        seen.extend(file.read_text("utf-8", "replace") for file in files)

    monkeypatch.setenv("WORKER_API_KEY", secret)
    with DaskCluster(ClusterAddress(local=1), lambda sentence: None) as cluster:
        monkeypatch.delenv("WORKER_API_KEY")
        outcome, events = executed(suite.path, backends_of(cluster), look, timeout_seconds=8)
    assert any("***" in text for text in seen)
    for text in (*seen, *(str(event.document()) for event in events), str(run_document(outcome))):
        assert secret not in text
