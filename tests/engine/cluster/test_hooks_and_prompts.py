"""Hooks of tasks and trigger prompts on workers: where trials run, once, with the results of threads."""

import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.engine.suites import statuses, write_prompts

pytest.importorskip("distributed")

from tests.command_line import engine
from tests.engine.cluster.ledgers import agents_alive, kill, until, waits_once, workers_of
from tests.engine.cluster.object_stores import BUCKET, ObjectServer
from tests.engine.cluster.processes import Cluster
from tests.engine.cluster.test_local_cluster import document, executed, without_times
from tests.engine.cluster.test_stored_runs import Elsewhere, can_hide
from tests.engine.executors.agents import write_agent
from tests.engine.runs.test_skill_evals import trigger_list
from tests.engine.suites import present, task, write_suite
from tests.patience import staying
from waza_engine.cluster.dask_backend import backends_of
from waza_engine.cluster.dask_cluster import DaskCluster
from waza_engine.results.codec.run_documents import run_of
from waza_engine.results.conclusion import conclude
from waza_engine.results.json_values import blocks_of
from waza_engine.results.reading.formats import read_document
from waza_engine.results.reading.recordings import read_recording
from waza_engine.results.record import RunOutcome
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.trials.backend import BackendFactory, ThreadBackend

pytestmark = pytest.mark.check
CONFIG = (
    "config: {trials_per_task: TRIALS, timeout_seconds: 600, executor: command, adapter: adapter.json, "
    "model: gpt-4o}\n"
)
# It answers where the hook before its task has run, and notes what it is asked.
AGENT = """\
    prompt = sys.argv[sys.argv.index("-p") + 1]
    if os.path.isdir("FOLDER"):
        with open("FOLDER/ledger", "a") as ledger:
            ledger.write(prompt + "\\n")
    while "slow" in prompt and os.path.exists("FOLDER/slow"):
        time.sleep(0.05)
    here = os.path.dirname(os.path.abspath(__file__))
    say(type="result", content="fine" if os.path.exists(f"{here}/prepared") else "missing", tokens=100)
"""
PREPARE = "import pathlib\npathlib.Path('prepared').touch()\nprint('cold')\nraise SystemExit(3)\n"
HOOKS = """\
hooks:
  before_task: [{command: python3 prepare.py, working_directory: .}]
  after_task: [{command: python3 -c exit(4)}]
"""
SAYS = "- {type: text, name: says, config: {contains: [fine]}}\n"


def prompts_suite(folder: Path, *prompts: str, trials: int = 1, hooks: str = "") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "prepare.py").write_text(PREPARE)
    (folder / "ledger").touch()
    usage = {"usage": {"output_tokens": "$.tokens"}}
    write_agent(folder, AGENT.replace("FOLDER", str(folder)), **{"x-waza": usage})
    tasks = {name: task(name, prompt=name) for name in ("a", "b")}
    config = CONFIG.replace("TRIALS", str(trials))
    path = write_suite(folder, tasks, graders=SAYS, config=config, more=hooks)
    write_prompts(folder, *prompts, should_not=["not"])
    return path


def asked(folder: Path) -> Counter[str]:
    return Counter((folder / "ledger").read_text().split())


@pytest.mark.parametrize(
    "hooks",
    [HOOKS, "hooks: {before_task: [{command: python3 -c exit(3), error_on_fail: true}]}\n"],
    ids=["warnings", "error"],
)
def test_results_with_hooks_and_trigger_prompts_equal_those_of_threads(
    cluster: DaskCluster, tmp_path: Path, hooks: str
) -> None:
    def found(backend: BackendFactory) -> tuple[Any, list[str]]:
        path = prompts_suite(tmp_path / "suite", "yes", "please", trials=3, hooks=hooks)
        outcome, events = executed(path, backend)
        shutil.rmtree(path.parent)
        # Events have what is spent so far, and trials end in any order.
        told = sorted(re.sub(r'"cost_usd": [0-9.]+, ', "", event) for event in without_times(events))
        return document(outcome), told

    workers, told = found(backends_of(cluster))
    threads, also_told = found(ThreadBackend)
    assert workers == threads
    assert told == also_told


def test_a_list_of_trigger_prompts_has_the_results_of_threads(cluster: DaskCluster, tmp_path: Path) -> None:
    path = trigger_list(tmp_path)
    workers, _ = executed(path, backends_of(cluster), trials=3)
    threads, _ = executed(path, ThreadBackend, trials=3)
    assert [trigger.asked for trigger in workers.triggers] == [3, 3]
    assert document(workers) == document(threads)


@pytest.mark.skipif(not can_hide(), reason="needs mount namespaces, which only Linux has")
def test_hooks_prepare_the_worker_that_does_not_see_the_suite(tmp_path: Path, server: ObjectServer) -> None:
    here = tmp_path / "here"
    here.mkdir()
    path = prompts_suite(here / "suite", "yes", "please", trials=3, hooks=HOOKS)
    threads, _ = executed(path, ThreadBackend)
    (path.parent / "prepared").unlink()
    with Cluster(tmp_path, workers=0) as cluster:
        worker = Elsewhere(cluster, here, tmp_path / "home")
        cluster.workers.append(worker)
        worker.wait_for("works for")
        run = cluster.run(path, "--store", BUCKET)
        assert run.ended() == 0, run.text
    assert run.text.count("the hook `python3 prepare.py` exited with 3: cold") == 2
    assert not (path.parent / "prepared").exists()
    record = max((path.parent / ".waza" / "results").glob("*.json"))
    found = document(run_of(read_recording(record).document))
    for key in ("tasks", "trigger_results", "trigger_metrics"):
        assert found[key] == document(threads)[key]
    assert not server.objects


def worker_of_prompt(folder: Path, prompt: str) -> int:
    """Return the process that tries a trigger prompt."""
    for sent in folder.glob(".waza/runs/*/trials/*/*.asked"):
        entry: Any = json.loads(sent.read_bytes() or b"{}")
        if entry.get("asked", {}).get("prompt") == prompt:
            lease = sent.parents[2] / "workers" / f"{entry['worker']}.json"
            return json.loads(lease.read_bytes())["process"]["pid"]
    raise AssertionError(f"no worker has {prompt}")


def errors(outcome: RunOutcome) -> dict[str, str]:
    return {trigger.prompt: trigger.error for trigger in outcome.triggers if trigger.error}


def newest(folder: Path) -> RunOutcome:
    # Two runs may begin in one second, which is what their names say.
    files = (folder / ".waza" / "results").glob("*.json")
    return run_of(read_recording(max(files, key=lambda file: file.stat().st_mtime_ns)).document)


def test_a_worker_killed_in_a_trigger_prompt_loses_it_and_it_is_paid_again_on_request_alone(
    cluster: DaskCluster, tmp_path: Path
) -> None:
    path = prompts_suite(tmp_path, "slow", "yes", "please")
    for name in ("slow", "prepared"):
        (tmp_path / name).touch()

    def kill_worker() -> None:
        until(lambda: asked(tmp_path)["slow"] > 0, "the prompt is not sent")
        # Its worker may have others, which would be lost as well.
        until(lambda: {*tried(tmp_path)} == {"yes", "please", "not"}, "a prompt has not ended")
        kill(worker_of_prompt(tmp_path, "slow"))

    outcome, _ = executed(path, backends_of(cluster), kill_worker)
    assert set(asked(tmp_path).values()) == {1}
    lost = errors(outcome)
    assert [*lost] == ["slow"]
    assert "may have been paid for; `--resume --retry lost` asks again" in lost["slow"]
    assert conclude(outcome).exit_code == 4
    assert staying(agents_alive(tmp_path), 5.0) == []
    (tmp_path / "slow").unlink()
    assert engine("run", path, "--resume", "--retry", "errors").returncode == 4
    assert asked(tmp_path)["slow"] == 1
    assert errors(newest(tmp_path)) == lost
    engine("run", path, "--resume", "--retry", "lost")
    assert errors(newest(tmp_path)) == {}
    assert asked(tmp_path)["slow"] == 2


def test_a_cancelled_run_ends_its_trigger_prompts_and_says_that_they_were_sent(
    cluster: DaskCluster, tmp_path: Path
) -> None:
    path = prompts_suite(tmp_path, "slow", "yes")
    (tmp_path / "slow").touch()
    cancellation, seen = RunCancellation(), list[str]()

    def cancel() -> None:
        until(lambda: asked(tmp_path)["slow"] > 0, "the prompt is not sent")
        until(lambda: {*tried(tmp_path)} == {"not", "yes"}, "a prompt has not ended")
        # The journal has them, and the folder of the run.
        seen.extend(tried(tmp_path))
        cancellation.request(by_person=True)

    outcome, events = executed(path, backends_of(cluster), cancel, cancellation=cancellation)
    assert sorted(seen) == ["not", "yes"]
    assert outcome.status == "canceled"
    assert events[-1].kind == "ended"
    assert "slow" in {answer.prompt for answer in outcome.unjudged}
    assert staying(agents_alive(tmp_path), 5.0) == []
    assert set(asked(tmp_path).values()) == {1}


def tried(folder: Path) -> list[str]:
    """Return the trigger prompts that a run has tried, as its record would have them if it was killed."""
    (journal,) = (folder / ".waza" / "results").glob("*.partial.jsonl")
    return [found["prompt"] for found in blocks_of((read_document(journal) or {}).get("trigger_results"))]


def test_a_limit_holds_for_the_trigger_prompts_of_all_workers(cluster: DaskCluster, tmp_path: Path) -> None:
    path = prompts_suite(tmp_path, *(f"p{number}" for number in range(40)))
    outcome, _ = executed(path, backends_of(cluster), max_tokens=1000)
    sent = asked(tmp_path).total()
    assert present(outcome.spending).tokens == 100 * sent
    assert 10 <= sent <= 10 + cluster.slots
    assert errors(outcome) == {}
    assert conclude(outcome).exit_code == 3


def test_a_task_whose_worker_is_lost_is_prepared_again_where_its_trials_go_on(
    cluster: DaskCluster, tmp_path: Path
) -> None:
    log, marker = tmp_path / "log", tmp_path / "marker"
    note = tmp_path / "note.py"
    note.write_text("import sys\nopen('log', 'a').write(sys.argv[1] + ' ')\n")
    hooks = "".join(
        f"  {name}: [{{command: python3 note.py {name}, working_directory: .}}]\n"
        for name in ("before_task", "after_task")
    )
    path = write_suite(
        tmp_path,
        {"a": task("a")},
        graders=waits_once(marker),
        config="config: {trials_per_task: 2, timeout_seconds: 20, executor: mock}\n",
        more=f"hooks:\n{hooks}",
    )

    def kill_worker() -> None:
        until(marker.exists, "no grader began")
        (worker, *others) = workers_of(tmp_path)
        assert not others, "another worker has a trial of the task"
        kill(worker)

    outcome, _ = executed(path, backends_of(cluster), kill_worker)
    assert statuses(outcome) == {"a": ["passed", "passed"]}
    lost, *hooks_run = log.read_text().split()
    assert lost == "before_task"
    # The two trials go on where there is room: at one worker or at two, and each of them has the hooks.
    assert hooks_run in (["before_task", "after_task"], ["before_task"] * 2 + ["after_task"] * 2)
