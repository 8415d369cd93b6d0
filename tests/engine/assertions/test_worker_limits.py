"""A worker meets no secret, can write no file, and ends itself; the same where Node.js evaluates."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import psutil
import pytest

from waza_engine.assertions.evaluator import JAVASCRIPT, AssertionEvaluator

pytestmark = [
    pytest.mark.check,
    pytest.mark.skipif(sys.platform != "linux", reason="the limits of another process are seen on Linux"),
]
LOADER = {"LC_CTYPE", "LD_LIBRARY_PATH"}
"""What an interpreter may need to start, or sets itself."""

# What runs outside of a context of Node.js, as an escape from one would.
ESCAPED = """
const [, , kind] = process.argv;
const tries = {
  spawn: () => require("node:child_process").spawnSync("id"),
  read: () => require("node:fs").readFileSync("/etc/passwd"),
  write: () => require("node:fs").writeFileSync("/tmp/escaped", "x"),
  thread: () => new (require("node:worker_threads").Worker)("1", { eval: true }),
};
try { tries[kind](); process.exitCode = 0; } catch { process.exitCode = 7; }
"""


@pytest.fixture(params=["python", "javascript"])
def worker(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[psutil.Process]:
    language: Literal["python", "javascript"] = request.param
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with (
        Path(__file__).open("rb") as inheritable,
        AssertionEvaluator() as evaluator,
    ):
        os.set_inheritable(inheritable.fileno(), True)
        assert evaluator.evaluate(["output == 'a'"], {"output": "a"}, language)[0].passed
        [number] = evaluator.process_ids()
        yield psutil.Process(number)


def test_the_environment_is_empty(worker: psutil.Process) -> None:
    assert set(worker.environ()) <= LOADER


def test_no_file_of_the_engine_is_open(worker: psutil.Process) -> None:
    opened = {each.path for each in worker.open_files()}
    assert not any(Path(path).suffix in {".py", ".yaml", ".json"} for path in opened)


def test_a_descriptor_that_is_inheritable_is_not_inherited() -> None:
    ends = os.pipe()
    try:
        pipe = Path(f"/proc/self/fd/{ends[0]}").readlink()
        for end in ends:
            os.set_inheritable(end, True)
        with AssertionEvaluator() as evaluator:
            assert evaluator.evaluate(["output == 'a'"], {"output": "a"})[0].passed
            [number] = evaluator.process_ids()
            assert pipe not in {each.readlink() for each in Path(f"/proc/{number}/fd").iterdir()}
    finally:
        for end in ends:
            os.close(end)


def test_no_file_can_be_written(worker: psutil.Process) -> None:
    assert worker.rlimit(psutil.RLIMIT_FSIZE) == (0, 0)
    assert worker.rlimit(psutil.RLIMIT_CORE) == (0, 0)


def test_python_is_limited_in_processes_and_memory() -> None:
    with AssertionEvaluator() as evaluator:
        evaluator.evaluate(["1"], {})
        [number] = evaluator.process_ids()
        process = psutil.Process(number)
        assert process.rlimit(psutil.RLIMIT_NPROC) == (0, 0)
        assert process.rlimit(psutil.RLIMIT_AS)[1] == 1_000_000_000


def test_processor_time_is_limited_while_an_assertion_runs() -> None:
    with AssertionEvaluator(deadline_seconds=1) as evaluator:
        evaluator.evaluate(["1"], {}, "javascript")
        [number] = evaluator.process_ids()
        soft, _ = psutil.Process(number).rlimit(psutil.RLIMIT_CPU)
        assert 0 < soft < 60


@pytest.mark.parametrize("kind", ["spawn", "read", "write", "thread"])
def test_node_refuses_what_an_escape_would_reach_for(kind: str, tmp_path: Path) -> None:
    script = tmp_path / "escaped.js"
    script.write_text(ESCAPED, "utf-8")
    *command, own = JAVASCRIPT.program.command(1_000_000_000)
    if not any("permission" in each for each in command):
        pytest.skip("this Node.js has no permissions")
    command = [each.replace(own, str(script)) for each in command]
    done = subprocess.run([*command, str(script), kind], check=False, capture_output=True, timeout=60)
    assert done.returncode == 7
