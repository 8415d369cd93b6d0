"""The terminal commands: ``check``, ``show``, and the ways to start the server."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.protocol.editor import write_suite
from tests.shared_corpus import SUITES, needs_corpus

SUITE = """\
name: explains
skill: explainer
config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}
tasks: ["tasks/*.yaml"]
graders:
  - {type: text, name: "😀", config: {containz: [hello]}}
"""
VALID = SUITE.replace("containz", "contains")
TASK = "id: one\nname: One\ninputs:\n  prompt: Say hello\n"


def waza(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "waza_language_server", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", cwd=cwd, timeout=120, check=False
    )


def test_check_prints_each_problem_at_its_place_and_counts(tmp_path: Path) -> None:
    write_suite(tmp_path, SUITE, one=TASK)
    done = waza("check", "eval.yaml", cwd=tmp_path)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0].startswith("eval.yaml:6:39: error[unknown-key] ")
    assert lines[-1] == "1 file checked: 1 error"


def test_check_prints_json_with_columns_of_utf_16(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, SUITE, one=TASK)
    done = waza("check", "--format", "json", suite)
    (found,) = json.loads(done.stdout)
    assert found["path"] == str(suite)
    assert found["range"] == {"start": {"line": 5, "character": 38}, "end": {"line": 5, "character": 46}}
    assert (found["severity"], found["code"]) == ("error", "unknown-key")
    assert "containz" in found["message"]
    assert done.returncode == 1


def test_check_of_a_valid_suite_exits_with_0(tmp_path: Path) -> None:
    write_suite(tmp_path, VALID, one=TASK)
    done = waza("check", tmp_path)
    assert (done.returncode, done.stdout) == (0, "2 files checked: no problems\n")


def test_check_leaves_out_hidden_and_foreign_folders(tmp_path: Path) -> None:
    for folder in (".hidden", "node_modules/x", "vendor/y"):
        write_suite(tmp_path / folder, SUITE)
    write_suite(tmp_path / ".github" / "skills" / "z", SUITE)
    done = waza("check", tmp_path)
    assert done.stdout.splitlines()[-1].startswith("1 file checked")


def test_check_follows_no_loop_of_links(tmp_path: Path) -> None:
    write_suite(tmp_path / "suite", VALID, one=TASK)
    try:
        (tmp_path / "suite" / "again").symlink_to(tmp_path, target_is_directory=True)
    except OSError:
        pytest.skip("this system makes no links")
    assert waza("check", tmp_path).stdout == "2 files checked: no problems\n"


def test_check_says_why_a_named_file_was_not_checked(tmp_path: Path) -> None:
    other = tmp_path / "deployment.yaml"
    other.write_text("kind: Pod\n", "utf-8")
    done = waza("check", other)
    assert "not a file of a suite" in done.stderr
    assert done.returncode == 0


def test_check_of_a_missing_path_is_bad_use(tmp_path: Path) -> None:
    done = waza("check", tmp_path / "nowhere")
    assert done.returncode == 2
    assert "does not exist" in done.stderr


def test_show_draws_problems_and_lenses_into_the_source(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, SUITE, one=TASK)
    lines = waza("show", suite).stdout.splitlines()
    assert lines[0] == "▶ Run suite"
    assert lines[1] == "name: explains"
    carets = next(line for line in lines if "^" in line)
    assert "^^^^^^^^ error unknown-key: " in carets


def test_show_of_another_file_is_bad_use(tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("hello", "utf-8")
    done = waza("show", other)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_version() -> None:
    assert waza("--version").stdout.startswith("waza-language-server ")


def test_an_unknown_option_is_named() -> None:
    done = waza("--stdoi")
    assert done.returncode == 2
    assert "--stdoi" in done.stderr


def test_the_server_serves_on_a_port() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen([sys.executable, "-m", "waza_language_server", "--tcp", str(port)])
    try:
        with _connect(port) as connection:
            params = {"processId": os.getpid(), "rootUri": None, "capabilities": {}}
            message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
            body = json.dumps(message).encode()
            connection.sendall(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
            assert connection.recv(16) == b"Content-Length: "
        assert server.wait(5) == 1
    finally:
        server.kill()
        server.wait()


def _connect(port: int) -> socket.socket:
    deadline = time.monotonic() + 20
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=20)
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.05)


@needs_corpus
def test_check_of_all_sample_suites_is_quick_and_raises_nothing() -> None:
    started = time.monotonic()
    done = waza("check", "--format", "json", SUITES)
    assert time.monotonic() - started < 20
    assert "Traceback" not in done.stderr
    assert "failed" not in done.stderr
    assert json.loads(done.stdout)
