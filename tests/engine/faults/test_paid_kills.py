"""Whenever a paid run is killed, no answer that has reached it is lost."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.command_line import engine
from tests.conftest import StartModel
from tests.engine.executors.agents import write_agent
from tests.engine.faults.kills import kill_often
from tests.engine.faults.runs import started
from tests.engine.runs.test_resuming import IDS, Ledger, resumed
from tests.engine.suites import present, task, write_prompts, write_suite
from tests.patience import ON_A_BUSY_MACHINE
from waza_engine.results.json_values import block_of
from waza_engine.results.reading.journals import begun, goes_on
from waza_engine.results.reading.recordings import read_recording
from waza_engine.results.writing.store import recover_journals
from waza_engine.runs.loading.suite_on_disk import SuiteError

pytestmark = [
    pytest.mark.check,
    pytest.mark.skipif(sys.platform == "win32", reason="signals and forks are POSIX"),
]
LINGERS = 'say(type="result", content="the answer", tokens=70)\ntime.sleep(60)\n'
CONFIG = "config: {trials_per_task: 1, timeout_seconds: 60, executor: command, adapter: adapter.json}\n"
LASTING = "- {type: program, name: lasts, config: {command: sleep, args: ['60'], timeout: 60}}\n"


def test_a_sample_of_kills_loses_nothing() -> None:
    assert kill_often(5, seed=1_000_000) == []


@pytest.mark.parametrize(
    ("number", "graders"),
    [(signal.SIGKILL, LASTING), (signal.SIGTERM, ""), (signal.SIGINT, LASTING)],
    ids=["killed", "ended before anything is graded", "interrupted"],
)
def test_the_answer_of_an_agent_that_has_not_ended_is_kept(
    number: signal.Signals, graders: str, tmp_path: Path
) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, graders=graders, config=CONFIG)
    write_agent(tmp_path, LINGERS, **{"x-waza": {"usage": {"output_tokens": "$.tokens"}}})
    results = tmp_path / ".waza" / "results"
    with started(path, tmp_path, "--format", "jsonl", stderr=subprocess.DEVNULL) as process:
        until_written(results, "the answer", process)
        process.send_signal(number)
        process.wait(20 + ON_A_BUSY_MACHINE)
    until_ended(results)
    told = engine("report", next(results.glob("*.json*")))
    assert told.returncode in (1, 130), told.stderr
    recover_journals(tmp_path)
    (record,) = results.glob("*.json")
    (trial,) = read_recording(record).tasks[0].trials
    assert trial.outcome.output == "the answer"
    assert present(trial.outcome.usage).output_tokens == 70


def until_ended(results: Path) -> None:
    """Return when no journal is being written: the engine ends after the process that was killed."""
    deadline = time.monotonic() + 20 + ON_A_BUSY_MACHINE
    while any(goes_on(begun(path) or {}) for path in results.glob("*.partial.jsonl")):
        assert time.monotonic() < deadline, "the engine goes on"
        time.sleep(0.01)


def until_written(results: Path, text: str, process: subprocess.Popen[bytes]) -> None:
    """Return when a journal holds a text, which it must while the run goes on."""
    deadline = time.monotonic() + 40 + ON_A_BUSY_MACHINE
    while not any(text in path.read_text("utf-8") for path in results.glob("*.partial.jsonl")):
        assert process.poll() is None, "the run has ended before"
        assert time.monotonic() < deadline, "it is not in the journal"
        time.sleep(0.01)


def killed_at(count: int, ledger: Ledger, *options: str) -> None:
    """Start a run of the suite in a process, and kill it when so many requests have come."""
    with started(ledger.path, ledger.path.parent, *options, stderr=subprocess.DEVNULL):
        ledger.model.wait_for_requests(count)
        (journal,) = (ledger.path.parent / ".waza" / "results").glob("*.partial.jsonl")
        psutil.Process(int(str(block_of(begun(journal) or {}, "process")["pid"]))).kill()


def test_a_prompt_that_was_sent_when_the_run_was_killed_is_lost(
    scripted_model: StartModel, tmp_path: Path
) -> None:
    ledger = Ledger(scripted_model, tmp_path, held="slow")
    write_prompts(tmp_path, "slow", "later")
    killed_at(4, ledger)
    outcome = resumed(ledger.path)
    assert ledger.asked == {**dict.fromkeys(IDS, 1), "slow": 1, "later": 1}
    assert [bool(found.error) for found in outcome.triggers] == [True, False]
    resumed(ledger.path, "lost")
    assert ledger.asked["slow"] == 2


def test_runs_that_go_on_count_what_all_runs_before_them_spent(
    scripted_model: StartModel, tmp_path: Path
) -> None:
    ledger = Ledger(scripted_model, tmp_path, held="b c c", said="bad")
    killed_at(2, ledger)
    # `a` has failed, and is asked again with `b`.
    killed_at(5, ledger, "--resume", "--retry", "lost", "--retry", "failed")
    killed_at(6, ledger, "--resume", "--retry", "lost")
    assert ledger.asked == {"a": 2, "b": 2, "c": 2}
    with pytest.raises(SuiteError, match="the limit of 300 tokens is reached: 300 are used"):
        resumed(ledger.path, "lost", max_tokens=300)
    outcome = resumed(ledger.path, "lost")
    assert outcome.spending is not None
    assert outcome.spending.tokens == 400
