"""A disk that gets full while an agent is paid: the run ends with what could be kept."""

import os
import re
from pathlib import Path

import pytest

from tests.command_line import stdout_of
from tests.engine.executors.agents import write_agent
from tests.engine.faults.runs import run_on_a_full_disk
from tests.engine.suites import task, write_suite

pytestmark = pytest.mark.check

TASKS = 20
KEPT_BYTES = 150_000
AGENT = """
sys.stdin.read()
open({paid!r}, "a").write("x\\n")
print("hello" + "x" * 100_000)
"""


@pytest.mark.skipif(os.name == "nt", reason="a limit on the size of files is POSIX's")
@pytest.mark.parametrize("workers", [1, 4])
def test_a_run_that_cannot_keep_what_it_pays_for_ends(tmp_path: Path, workers: int) -> None:
    suite, paid = tmp_path / "suite", tmp_path / "paid"
    config = "config: {trials_per_task: 1, timeout_seconds: 60, executor: command, adapter: adapter.json}\n"
    path = write_suite(
        suite, {f"t{number:02}": task(f"t{number:02}") for number in range(TASKS)}, config=config
    )
    keys = {"prompt": {"stdin": True}, "x-waza": {"output_mode": "text"}}
    write_agent(suite, AGENT.format(paid=os.fspath(paid)), sessionMode="iterative", **keys)
    found = run_on_a_full_disk(KEPT_BYTES, path, "--parallel", "--workers", str(workers))
    assert found.returncode == 2
    assert "The run ends here, for nothing more could be kept." in found.stderr
    told = re.search(
        # The whole document may be short enough.
        rf"(?:results not kept|not run to its end): 0 of {TASKS} tasks passed, (\d+) skipped, (\d+) not run",
        found.stdout,
    )
    assert told is not None
    assert int(told[1]) + int(told[2]) == TASKS
    assert "the run was interrupted" not in found.stdout
    calls = len(paid.read_text("utf-8").split())
    kept = stdout_of("report", path, code=1)
    assert "No space left on device" in kept or "File too large" in kept
    lost = re.search(rf"not run to its end: 0 of {TASKS} tasks passed, (\d+) (?:lost|skipped)", kept)
    # The first answer is kept, and not its task. Nothing was asked after the first that could not be kept.
    assert lost is not None
    assert 1 <= int(lost[1]) <= workers
    assert calls <= 1 + workers
