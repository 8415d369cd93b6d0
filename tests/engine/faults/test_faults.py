"""What may go wrong in a run, tried with the real command: nothing is lost, nothing hangs, nothing is left.

Faults of judges are in ``tests/engine/graders/test_judges_verdicts.py``, of patterns in
``test_pattern_limits.py``, of assertions in ``tests/engine/assertions/test_evaluator.py``, of models and
agents in ``tests/engine/executors/test_openai_faults.py`` and ``test_command_faults.py``, of results that
cannot be written in ``tests/engine/results/test_store.py``, files outside in
``tests/engine/test_bounds_of_suites.py`` and ``tests/engine/runs/test_workspace.py``.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.engine.faults.runs import FaultyRun, faulty_run, marked_processes, run_on_a_full_disk, started
from tests.engine.suites import GREETS, present, task, until_kept, write_suite
from tests.patience import ON_A_BUSY_MACHINE, staying
from waza_engine.results.reading.newest_scores import latest_results

pytestmark = pytest.mark.check

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals, links and groups are POSIX")
MEGABYTE = 2**20


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    """The temporary directory of a run."""
    directory = tmp_path / "temporary"
    directory.mkdir()
    return directory


def python_grader(code: str, timeout: int = 30, kind: str = "program") -> str:
    config = {"command": sys.executable, "args": ["-c", code], "timeout": timeout}
    return f"- {json.dumps({'type': kind, 'name': 'faulty', 'config': config})}\n"


def run_with(suite: Path, grader: str, temporary: Path) -> FaultyRun:
    """Run a task with a faulty grader between two good ones, and a good task after it."""
    graders = f"{GREETS}{grader}{GREETS.replace('greets', 'greets_again')}"
    tasks = {"a": task("a", f"graders:\n{graders}"), "b": task("b", f"graders:\n{GREETS}")}
    return faulty_run(write_suite(suite, tasks), temporary=temporary)


def nothing_is_lost(found: FaultyRun, temporary: Path) -> None:
    """Check that the good graders have their verdicts, and that no workspace stays."""
    said = found.task("a")["runs"][0]["validations"].values()
    wrong = any(not verdict["passed"] and verdict.get("status") != "error" for verdict in said)
    assert found.exit_code == (1 if wrong else 4), found.stderr
    assert "Traceback" not in found.stderr
    for name, grader in (("a", "greets"), ("a", "greets_again"), ("b", "greets")):
        assert found.verdict(name, grader)["passed"] is True
    assert "hello" in found.task("a")["runs"][0]["final_output"]
    assert list(temporary.iterdir()) == []


def test_a_hanging_script_costs_its_time_limit(tmp_path: Path, temporary: Path) -> None:
    found = run_with(tmp_path / "suite", python_grader("import time; time.sleep(600)", 1), temporary)
    nothing_is_lost(found, temporary)
    assert "1" in found.verdict("a", "faulty")["feedback"]
    assert found.seconds < 15 + ON_A_BUSY_MACHINE


@posix
def test_children_that_a_script_leaves_behind_are_ended(tmp_path: Path, temporary: Path) -> None:
    mark = f"left-behind-{os.getpid()}"
    child = f"import time; time.sleep(600)  # {mark}"
    code = (
        "import subprocess, sys\n"
        "quiet = dict.fromkeys(('stdin', 'stdout', 'stderr'), subprocess.DEVNULL)\n"
        f"command = [sys.executable, '-c', {child!r}]\n"
        "for _ in range(3): subprocess.Popen(command, start_new_session=True, **quiet)\n"
        "print('done')\n"
    )
    found = run_with(tmp_path / "suite", python_grader(code), temporary)
    assert found.verdict("a", "faulty")["passed"] is True
    assert found.exit_code == 0
    assert staying(marked_processes(mark)) == []
    assert found.seconds < 15 + ON_A_BUSY_MACHINE


def test_output_that_is_no_text_is_a_verdict_and_the_file_stays_readable(
    tmp_path: Path, temporary: Path
) -> None:
    code = "import sys; sys.stdout.buffer.write(b'\\xff\\xfe\\x00 caf\\xe9 \\xed\\xa0\\x80'); sys.exit(1)"
    found = run_with(tmp_path / "suite", python_grader(code), temporary)
    nothing_is_lost(found, temporary)
    assert found.verdict("a", "faulty")["passed"] is False
    assert "caf" in json.dumps(found.verdict("a", "faulty"))


@posix
def test_a_workspace_that_does_not_fit_on_the_disk_costs_its_task(tmp_path: Path, temporary: Path) -> None:
    suite = tmp_path / "suite"
    (suite / "fixtures").mkdir(parents=True)
    (suite / "fixtures" / "large.bin").write_bytes(b"x" * MEGABYTE)
    tasks = {"a": "id: a\ninputs: {prompt: x, files: [large.bin]}\n", "b": task("b")}
    path = write_suite(suite, tasks, graders=GREETS)
    found = run_on_a_full_disk(MEGABYTE // 2, path, TMPDIR=str(temporary))
    assert "Traceback" not in found.stderr
    results = present(latest_results(suite))
    assert {each.id: each.status for each in results.tasks.values()} == {"a": "error", "b": "passed"}
    assert "cannot be copied into the workspace" in results.tasks["a"].error
    assert list(temporary.iterdir()) == []


@posix
def test_a_killed_engine_loses_no_finished_task_and_leaves_no_program(
    tmp_path: Path, temporary: Path
) -> None:
    mark = f"outlives-{os.getpid()}"
    child = f"import time; time.sleep(600)  # {mark}"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])  # {mark}"
    tasks = {"a": task("a", f"graders:\n{GREETS}"), "b": task("b", f"graders:\n{python_grader(code, 600)}")}
    suite = write_suite(tmp_path / "suite", tasks)
    with started(suite, temporary, "--format", "jsonl", stdout=subprocess.PIPE) as process:
        deadline = time.monotonic() + 60
        while len(marked_processes(mark)) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        left = marked_processes(mark)
        assert len(left) >= 2
        until_kept(suite.parent, "a")
        process.kill()
    assert staying(left) == []
    found = present(latest_results(suite.parent))
    assert found.tasks["a"].graders["greets"].passed
    again = faulty_run(suite, "--task", "a", temporary=temporary)
    assert again.exit_code == 0
    results = [path.suffix for path in (suite.parent / ".waza" / "results").iterdir()]
    assert results == [".json"] * 2
    assert list(temporary.iterdir()) == []


@posix
def test_runs_of_one_suite_at_the_same_time_keep_apart(tmp_path: Path, temporary: Path) -> None:
    code = "import os, time; time.sleep(0.3); print(os.environ['WAZA_WORKSPACE_DIR'])"
    tasks = {name: task(name, f"graders:\n{GREETS}{python_grader(code)}") for name in ("a", "b")}
    suite = write_suite(tmp_path / "suite", tasks)
    pipe = subprocess.PIPE
    processes = [started(suite, temporary, stdout=pipe, stderr=pipe) for _ in range(3)]
    for process in processes:
        _, said = process.communicate(timeout=60)
        assert (process.returncode, said) == (0, b"")
    results = sorted((suite.parent / ".waza" / "results").glob("*.json"))
    assert len(results) == 3
    documents = [json.loads(path.read_bytes()) for path in results]
    assert [len(document["tasks"]) for document in documents] == [2, 2, 2]
    assert len({document["eval_id"] for document in documents}) == 3
    assert list(temporary.iterdir()) == []
