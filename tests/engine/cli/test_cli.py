import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.command_line import engine, engine_process, stderr_of, stdout_of
from tests.engine.cli.terminal import shown_on_terminal
from tests.engine.suites import GREETS, HANGS, present, task, write_suite
from tests.patience import ON_A_BUSY_MACHINE, staying
from waza_engine.results.reading.newest_scores import latest_results

pytestmark = pytest.mark.check

EXAMPLE = Path(__file__).parents[3] / "examples" / "code-explainer"


def test_exit_code_0_when_every_task_passes(tmp_path: Path) -> None:
    found = engine_process("run", write_suite(tmp_path, {"a": task("a")}, graders=GREETS))
    assert (found.returncode, found.stderr) == (0, "")
    assert "✓ a  1.00" in found.stdout
    assert "1 of 1 task passed" in found.stdout


def test_exit_code_1_when_a_task_fails_and_its_grader_says_why(tmp_path: Path) -> None:
    found = stdout_of("run", write_suite(tmp_path, {"a": task("a", prompt="Bye")}, graders=GREETS), code=1)
    assert "✗ greets  0.00" in found
    assert "hello" in found


def test_jsonl_is_one_event_a_line(tmp_path: Path) -> None:
    found = engine_process(
        "run", write_suite(tmp_path, {"a": task("a")}, graders=GREETS), "--format", "jsonl"
    )
    events = [json.loads(line) for line in found.stdout.splitlines()]
    assert (events[0]["kind"], events[-1]["kind"]) == ("run_started", "ended")


def test_trials_tasks_and_graders_can_be_chosen(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a"), "b": task("b")}, graders=GREETS)
    options = ("--task", "b", "--grader", "greets", "--trials", "2", "--model", "m", "--format", "json")
    document = json.loads(engine("run", path, *options).stdout)
    assert document["config"] | {"timeout_sec": 0} == {
        "runs_per_test": 2,
        "model_id": "m",
        "engine_type": "mock",
        "timeout_sec": 0,
    }
    assert [(found["test_id"], len(found["runs"])) for found in document["tasks"]] == [("b", 2)]


def test_warnings_go_to_standard_error(tmp_path: Path) -> None:
    odd = "- {type: text, name: greets, config: {contains: [hello], contians: [x]}}\n"
    assert "contians" in stderr_of("run", write_suite(tmp_path, {"a": task("a")}, graders=odd), code=0)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
@pytest.mark.parametrize(
    ("name", "to_all"), [("SIGINT", False), ("SIGTERM", False), ("SIGHUP", False), ("SIGINT", True)]
)
def test_interrupting_ends_cleanly_and_keeps_what_was_finished(
    tmp_path: Path, name: str, *, to_all: bool
) -> None:
    path = write_suite(
        tmp_path, {"a": task("a", f"graders:\n{GREETS}"), "b": task("b", f"graders:\n{HANGS}")}
    )
    # A test run in the background, or behind nohup, ignores these signals, and its children would too.
    listening = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "signal.signal(signal.SIGHUP, signal.SIG_DFL)"
    )
    program = f"{listening}; from waza_engine.cli import main; main()"
    command = [sys.executable, "-c", program, "run", str(path), "--format", "jsonl"]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=to_all,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if b'"output"' in line and b'"b"' in line:
                break
        time.sleep(0.5)
        children = psutil.Process(process.pid).children(recursive=True)
        assert len(children) >= 2, "the guard and the engine"
        started = time.monotonic()
        process.send_signal(signal.Signals[name])
        for _ in range(3 if to_all else 0):
            # As `timeout` does: to the process, and to all of its group. That is one request.
            os.killpg(process.pid, signal.Signals[name])
            time.sleep(0.001)
        last = process.stdout.read().splitlines()[-1]
        assert process.wait(10 + ON_A_BUSY_MACHINE) == 130
        assert time.monotonic() - started < 2.0 + ON_A_BUSY_MACHINE
        assert present(process.stderr).read() == b""
    assert json.loads(last)["status"] == "canceled"
    assert staying(children) == []
    found = present(latest_results(tmp_path))
    assert {task.id: task.status for task in found.tasks.values()} == {"a": "passed", "b": "skipped"}


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
@pytest.mark.parametrize(
    ("program", "module"),
    [
        ("waza_engine", "traceback"),
        ("waza_engine", "typer"),
        ("waza_language_server", "waza_engine.terminal"),
    ],
)
def test_ctrl_c_while_a_command_is_loaded_ends_it_without_a_traceback(program: str, module: str) -> None:
    command = (
        "import signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == '{module}': signal.raise_signal(signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        "sys.argv = ['command', 'show', '.']\n"
        f"from {program}.cli import main\n"
        "main()"
    )
    found = subprocess.run([sys.executable, "-c", command], capture_output=True, timeout=60, check=False)
    assert (found.returncode, found.stdout, found.stderr) == (130, b"", b"")


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
def test_the_same_ctrl_c_again_while_the_process_ends_prints_no_traceback() -> None:
    command = (
        "import signal\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "import waza_engine.early_interruption\n"
        "import atexit\n"
        "from waza_engine.command_line import run_command_line\n"
        "atexit.register(signal.raise_signal, signal.SIGINT)\n"
        "run_command_line(lambda: signal.raise_signal(signal.SIGINT))"
    )
    found = subprocess.run([sys.executable, "-c", command], capture_output=True, timeout=60, check=False)
    assert (found.returncode, found.stdout, found.stderr) == (130, b"", b"")


def test_the_example_runs_with_the_mock_executor(tmp_path: Path) -> None:
    found = engine("run", EXAMPLE, "-o", tmp_path / "r.json")
    assert found.returncode == 1
    document = json.loads((tmp_path / "r.json").read_text())
    assert [task["status"] for task in document["tasks"]].count("failed") == 1
    assert document["trigger_metrics"]["accuracy"] == 1
    partial = [v["score"] for t in document["tasks"] for r in t["runs"] for v in r["validations"].values()]
    assert any(0 < score < 1 for score in partial)


def test_the_schemas_are_written(tmp_path: Path) -> None:
    assert engine("schema", "--out", tmp_path).returncode == 0
    assert (tmp_path / "eval.schema.json").is_file()
    assert "eval.schema.json" in json.loads(engine("schema").stdout)


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals are POSIX")
def test_a_terminal_gets_a_progress_bar_and_a_pipe_does_not(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    shown = shown_on_terminal("run", path)
    assert "━".encode() in shown
    assert b"1/1" in shown
    assert "━" not in engine("run", path).stdout


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo terminals are POSIX")
def test_a_progress_bar_has_room_beside_long_names_on_a_narrow_terminal(tmp_path: Path) -> None:
    identifier = "explains-what-the-deployment-script-does-when-a-region-is-missing"
    sleeps = "- {type: program, name: sleeps, config: {command: sleep, args: ['0.5']}}\n"
    path = write_suite(tmp_path, {"a": task(identifier)}, graders=sleeps)
    shown = shown_on_terminal("run", path, COLUMNS="60").decode()
    lines = re.split(r"[\r\n]+", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown))
    bars = [line for line in lines if "explains-what" in line and "1.00" not in line]
    assert bars
    assert all("━" in line and "/1 0:00:0" in line for line in bars), bars
    assert max(map(len, bars)) <= 60


@pytest.mark.parametrize("output_format", ["text", "json", "jsonl"])
def test_a_reader_that_leaves_ends_the_command_without_a_word(tmp_path: Path, output_format: str) -> None:
    path = write_suite(tmp_path, {"a": task("a"), "b": task("b", f"graders:\n{HANGS}")})
    if output_format == "json":
        path = write_suite(tmp_path / "quick", {"a": task("a")})
    command = [sys.executable, "-m", "waza_engine", "run", str(path), "--format", output_format]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        if output_format != "json":
            process.stdout.readline()
        process.stdout.close()
        assert present(process.stderr).read() == b""
        assert process.wait(20 + ON_A_BUSY_MACHINE) == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
@pytest.mark.parametrize(
    "arguments", [["run", "--format", "text"], ["run", "--format", "json"], ["--version"]]
)
def test_a_full_disk_behind_standard_output_is_one_sentence(tmp_path: Path, arguments: list[str]) -> None:
    path = write_suite(tmp_path, {"a": task("a")})
    command = [sys.executable, "-m", "waza_engine", *arguments, *([str(path)] if "run" in arguments else [])]
    with Path("/dev/full").open("wb") as full:
        found = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert found.returncode == 2
    assert found.stderr.startswith("Standard output cannot be written: ")
    assert found.stderr.count("\n") == 1


def test_a_place_that_cannot_be_written_is_refused_before_anything_runs(tmp_path: Path) -> None:
    assert "it is a directory" in stderr_of("run", write_suite(tmp_path, {"a": task("a")}), "-o", tmp_path)
    assert not (tmp_path / ".waza").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="devices are POSIX")
def test_results_go_into_a_device_and_never_replace_it(tmp_path: Path) -> None:
    link = tmp_path / "null.json"
    link.symlink_to("/dev/null")
    assert (
        engine_process("run", write_suite(tmp_path / "suite", {"a": task("a")}), "-o", link).returncode == 0
    )
    assert link.is_symlink()
    assert Path("/dev/null").is_char_device()


def test_json_is_utf_8_on_every_terminal(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a", prompt="Grüß Gott ✓")})
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    for output_format in ("json", "jsonl", "text"):
        command = [sys.executable, "-m", "waza_engine", "run", str(path), "--format", output_format]
        found = subprocess.run(command, capture_output=True, env=environment, check=False)
        assert (found.returncode, found.stderr) == (0, b"")
        assert ("Grüß Gott ✓".encode() in found.stdout) is (output_format != "text")


def test_a_terminal_without_marks_tells_passed_from_failed_all_the_same(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a"), "b": task("b", prompt="Bye")}, graders=GREETS)
    command = [sys.executable, "-m", "waza_engine", "run", str(path)]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    found = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert "+ a  1.00" in found.stdout
    assert "x b  0.00" in found.stdout
    command = [sys.executable, "-m", "waza_engine", "history", str(path)]
    found = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert found.stdout.startswith("0.50  the only run")
    assert "?" not in found.stdout
