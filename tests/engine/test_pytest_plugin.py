"""``pytest --waza``: a process of its own, as users start it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engine.greeter import SUITE, write_greeter

pytestmark = pytest.mark.check

PASSES, FAILS = "Say hello please", "Say hello"


def pytest_of(directory: Path, *options: str) -> str:
    """Start pytest with this plugin alone: the others would take most of the time."""
    plugins = ("-p", "waza_engine.pytest_plugin", "-p", "no:cacheprovider")
    return started(directory, *plugins, *options, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")


def started(directory: Path, *options: str, **variables: str) -> str:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-rA", *options],
        cwd=directory,
        env=environment | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def test_each_task_is_a_test_with_the_feedback_of_its_graders(tmp_path: Path) -> None:
    write_greeter(tmp_path / "evals", good=PASSES, bad=FAILS)
    # `pytest-lsp` works only with test functions.
    printed = started(tmp_path, "-p", "no:pytest-lsp", "-p", "no:cacheprovider", "--waza", "evals")
    assert "PASSED evals/eval.yaml::good" in printed
    assert "FAILED evals/eval.yaml::bad" in printed
    assert 'polite (text): missing text: "please"' in printed
    assert "Traceback" not in printed
    assert len(list((tmp_path / "evals" / ".waza" / "results").glob("*.json"))) == 1


def test_only_the_selected_tasks_run(tmp_path: Path) -> None:
    write_greeter(tmp_path / "evals", good=PASSES, bad=FAILS)
    printed = pytest_of(tmp_path, "--waza", "-k", "good")
    assert "1 passed, 1 deselected" in printed


def test_without_the_option_nothing_is_collected(tmp_path: Path) -> None:
    write_greeter(tmp_path / "evals", bad=FAILS)
    assert "no tests ran" in pytest_of(tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\nwaza = true\n", "utf-8")
    assert "1 failed" in pytest_of(tmp_path)


def test_a_suite_of_an_agent_is_graded_from_its_record(tmp_path: Path) -> None:
    write_greeter(tmp_path / "evals", good=PASSES)
    assert "1 passed" in pytest_of(tmp_path, "--waza")
    eval_file = tmp_path / "evals" / "eval.yaml"
    eval_file.write_text(SUITE.replace("executor: mock", "executor: copilot-sdk"), "utf-8")
    assert "1 passed" in pytest_of(tmp_path, "--waza")


def test_a_suite_of_an_agent_without_a_record_is_skipped(tmp_path: Path) -> None:
    write_greeter(tmp_path / "evals", SUITE.replace("executor: mock", "executor: copilot-sdk"), good=PASSES)
    printed = pytest_of(tmp_path, "--waza")
    assert "1 skipped" in printed
    assert "--waza-run" in printed


def test_a_broken_suite_is_an_error_and_one_of_another_tool_is_left_out(tmp_path: Path) -> None:
    write_greeter(tmp_path / "broken", "name: [")
    write_greeter(tmp_path / "vally", "name: v\nstimuli: []\n")
    printed = pytest_of(tmp_path, "--waza")
    assert "1 error" in printed
    assert "ERROR broken/eval.yaml" in printed
    assert "vally" not in printed.partition("short test summary")[2]
