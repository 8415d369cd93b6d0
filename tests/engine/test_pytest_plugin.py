"""``pytest --waza``: a process of its own, as users start it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.engine.greeter import SUITE, write_greeter

pytestmark = pytest.mark.check

OF_AN_AGENT = SUITE.replace("executor: mock", "executor: copilot-sdk")
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


def test_a_credential_in_the_id_of_a_task_is_not_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-proj-Zq8vX2mN4bK7wRtY")
    evals = write_greeter(tmp_path / "evals", good=PASSES)
    file = evals / "tasks" / "good.yaml"
    file.write_text(file.read_text("utf-8").replace("id: good", "id: good-sk-proj-Zq8vX2mN4bK7wRtY"), "utf-8")
    printed = pytest_of(tmp_path, "--waza", "-rA")
    assert "2 passed" in printed
    assert "Zq8vX2mN4bK7" not in printed


def test_of_two_tasks_with_one_id_each_has_its_own_result(tmp_path: Path) -> None:
    evals = write_greeter(tmp_path / "evals", first=PASSES, second=FAILS)
    for name in ("first", "second"):
        file = evals / "tasks" / f"{name}.yaml"
        file.write_text(file.read_text("utf-8").replace(f"id: {name}", "id: '[one]'"), "utf-8")
    printed = pytest_of(tmp_path, "--waza")
    assert "FAILED evals/eval.yaml::[one]-2" in printed
    assert "1 failed, 2 passed" in printed
    assert "1 failed, 1 passed, 1 deselected" in pytest_of(tmp_path, "--waza", "-k", "one")


def test_only_the_selected_tasks_run(tmp_path: Path) -> None:
    write_greeter(tmp_path / "evals", good=PASSES, bad=FAILS)
    printed = pytest_of(tmp_path, "--waza", "-k", "good")
    assert "1 passed, 2 deselected" in printed


def test_without_the_option_nothing_is_collected(tmp_path: Path) -> None:
    write_greeter(tmp_path / "evals", bad=FAILS)
    assert "no tests ran" in pytest_of(tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\nwaza = true\n", "utf-8")
    assert "1 failed, 1 passed" in pytest_of(tmp_path)


def test_a_suite_of_an_agent_is_graded_from_its_record(tmp_path: Path) -> None:
    write_greeter(tmp_path / "evals", good=PASSES)
    assert "2 passed" in pytest_of(tmp_path, "--waza")
    (tmp_path / "evals" / "eval.yaml").write_text(OF_AN_AGENT, "utf-8")
    assert "2 passed" in pytest_of(tmp_path, "--waza")


def recorded(directory: Path, edit: Callable[[dict[str, Any]], object], more: str = "") -> Path:
    """Run a suite with the mock, edit its record, and let an agent be what the suite names."""
    evals = write_greeter(directory / "evals", SUITE + more, good=PASSES, other=PASSES)
    (evals / "trigger_tests.yaml").write_text(
        "skill: greeter\nshould_trigger_prompts: [{prompt: greet me}]\n", "utf-8"
    )
    pytest_of(directory, "--waza")
    (record,) = (evals / ".waza" / "results").glob("*.json")
    document = json.loads(record.read_text("utf-8"))
    edit(document)
    record.write_text(json.dumps(document), "utf-8")
    (evals / "eval.yaml").write_text(OF_AN_AGENT + more, "utf-8")
    return evals


def interrupt(document: dict[str, Any]) -> None:
    document["metadata"]["engine"]["status"] = "canceled"
    document["tasks"][0]["runs"][0]["stopped"] = True
    document["tasks"][1].update(status="skipped", runs=[])


def test_a_task_that_did_not_come_to_its_end_is_a_failure(tmp_path: Path) -> None:
    recorded(tmp_path, interrupt)
    printed = pytest_of(tmp_path, "--waza")
    assert "3 failed" in printed, printed
    assert printed.count("the run was interrupted") >= 2


def test_what_fails_a_run_besides_its_tasks_is_a_failure_of_its_verdict(tmp_path: Path) -> None:
    def misclassify(document: dict[str, Any]) -> None:
        document["trigger_results"][0]["did_trigger"] = False

    recorded(tmp_path, misclassify, "metrics: [{name: trigger_accuracy, threshold: 0.9}]\n")
    printed = pytest_of(tmp_path, "--waza")
    assert "1 failed, 2 passed" in printed, printed
    assert "trigger_accuracy is 0.00, below 0.9" in printed


def test_a_suite_does_not_pass_with_a_record_that_lacks_a_task(tmp_path: Path) -> None:
    recorded(tmp_path, lambda document: document["tasks"].pop())
    printed = pytest_of(tmp_path, "--waza")
    assert "2 failed, 1 passed" in printed, printed
    assert "FAILED evals/eval.yaml::other - Failed: it was not recorded" in printed


def test_a_suite_that_cannot_run_fails_each_test(tmp_path: Path) -> None:
    provider = "provider: {base_url: 'http://127.0.0.1:9/v1', api_key_env: KEY_OF_NOBODY}"
    write_greeter(
        tmp_path / "evals", SUITE.replace("executor: mock", f"executor: openai, {provider}"), good=PASSES
    )
    printed = pytest_of(tmp_path, "--waza", "--waza-run")
    assert ("2 failed" in printed, "Traceback" in printed) == (True, False), printed
    assert printed.count("FAILED evals/eval.yaml::") == 2
    assert "KEY_OF_NOBODY`" in printed


def test_no_suite_is_paid_for_by_several_workers(tmp_path: Path) -> None:
    write_greeter(tmp_path / "evals", good=PASSES)
    basetemp = f"--basetemp={tmp_path / 'of_workers'}"
    options = ("-p", "xdist", "-n", "2", basetemp, "--waza", "--waza-run")
    assert "add `--dist loadfile`" in pytest_of(tmp_path, *options)
    assert not (tmp_path / "evals" / ".waza").exists()
    assert "2 passed" in pytest_of(tmp_path, *options, "--dist", "loadfile")


def test_a_suite_of_an_agent_without_a_record_is_skipped(tmp_path: Path) -> None:
    write_greeter(tmp_path / "evals", OF_AN_AGENT, good=PASSES)
    printed = pytest_of(tmp_path, "--waza")
    assert "2 skipped" in printed
    assert "--waza-run" in printed


def test_a_broken_suite_is_an_error_and_one_of_another_tool_is_left_out(tmp_path: Path) -> None:
    write_greeter(tmp_path / "broken", "name: [")
    write_greeter(tmp_path / "vally", "name: v\nstimuli: []\n")
    printed = pytest_of(tmp_path, "--waza")
    assert "1 error" in printed
    assert "ERROR broken/eval.yaml" in printed
    assert "vally" not in printed.partition("short test summary")[2]
