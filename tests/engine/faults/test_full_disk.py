"""A disk that gets full while an agent is paid: the run ends with what could be kept."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line import stdout_of
from tests.engine.suites import task, write_suite

pytestmark = pytest.mark.check

TASKS = 20
KEPT_BYTES = 150_000
AGENT = """
import sys
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
    (suite / "agent.py").write_text(AGENT.format(paid=os.fspath(paid)), "utf-8")
    adapter = {
        "version": 1,
        "name": "agent",
        "command": [sys.executable, os.fspath(suite / "agent.py")],
        "sessionMode": "iterative",
        "prompt": {"stdin": True},
        "x-waza": {"output_mode": "text"},
    }
    (suite / "adapter.json").write_text(json.dumps(adapter), "utf-8")
    # A limit on the size of files fails the same writes as a full disk.
    code = (
        "import resource, signal, sys; from waza_engine.cli import main;"
        " signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        f" resource.setrlimit(resource.RLIMIT_FSIZE, ({KEPT_BYTES}, {KEPT_BYTES}));"
        f" sys.argv = ['waza-engine', 'run', {os.fspath(path)!r}, '--parallel', '--workers', '{workers}'];"
        " main()"
    )
    found = subprocess.run(
        [sys.executable, "-B", "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
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
