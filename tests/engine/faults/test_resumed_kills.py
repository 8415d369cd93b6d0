"""A run whose process is killed goes on: nothing is asked twice, and nothing that it spent is forgotten."""

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.conftest import StartModel
from tests.engine.runs.test_resuming import IDS, Ledger, resumed
from tests.engine.suites import write_prompts
from waza_engine.results.json_values import block_of
from waza_engine.results.reading.journals import begun
from waza_engine.runs.loading.suite import SuiteError

pytestmark = pytest.mark.check


def killed_at(count: int, ledger: Ledger, *options: str) -> None:
    """Start a run of the suite in a process, and kill it when so many requests have come."""
    command = [sys.executable, "-m", "waza_engine", "run", str(ledger.path), *options]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
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
