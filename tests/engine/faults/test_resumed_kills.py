"""A run whose process is killed goes on: nothing is asked twice, and nothing that it spent is forgotten."""

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.conftest import StartModel
from tests.engine.runs.test_resuming import IDS, Ledger, resumed, suite, with_prompts
from tests.scripted_model import ScriptedModel
from waza_engine.results.json_values import block_of
from waza_engine.results.reading.journals import begun
from waza_engine.runs.loading.suite_on_disk import SuiteError

pytestmark = pytest.mark.check


def killed_at(count: int, model: ScriptedModel, path: Path, *options: str) -> None:
    """Start a run of the suite in a process, and kill it when so many requests have come."""
    command = [sys.executable, "-m", "waza_engine", "run", str(path), *options]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
        model.wait_for_requests(count)
        (journal,) = (path.parent / ".waza" / "results").glob("*.partial.jsonl")
        psutil.Process(int(str(block_of(begun(journal) or {}, "process")["pid"]))).kill()


def test_a_prompt_that_was_sent_when_the_run_was_killed_is_lost(
    scripted_model: StartModel, tmp_path: Path
) -> None:
    ledger = Ledger(scripted_model, held="slow")
    path = suite(tmp_path, ledger.model)
    with_prompts(path, "slow", "later")
    killed_at(4, ledger.model, path)
    outcome = resumed(path)
    assert ledger.asked == {**dict.fromkeys(IDS, 1), "slow": 1, "later": 1}
    assert [bool(found.error) for found in outcome.triggers] == [True, False]
    resumed(path, "lost")
    assert ledger.asked["slow"] == 2


def test_runs_that_go_on_count_what_all_runs_before_them_spent(
    scripted_model: StartModel, tmp_path: Path
) -> None:
    ledger = Ledger(scripted_model, held="b c c", said="bad")
    path = suite(tmp_path, ledger.model)
    killed_at(2, ledger.model, path)
    # `a` has failed, and is asked again with `b`.
    killed_at(5, ledger.model, path, "--resume", "--retry", "lost", "--retry", "failed")
    killed_at(6, ledger.model, path, "--resume", "--retry", "lost")
    assert ledger.asked == {"a": 2, "b": 2, "c": 2}
    with pytest.raises(SuiteError, match="the limit of 300 tokens is reached: 300 are used"):
        resumed(path, "lost", max_tokens=300)
    outcome = resumed(path, "lost")
    assert outcome.spending is not None
    assert outcome.spending.tokens == 400
