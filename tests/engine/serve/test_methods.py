"""The methods of upstream's table: their parameters, results and error codes."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.engine.serve.client import Engine
from tests.engine.suites import GREETS, recorded, task, write_suite

CONFIG = """\
config:
  trials_per_task: 2
  timeout_seconds: 20
  executor: mock
  model: m
  judge_model: j
  parallel: true
  workers: 3
  fail_fast: true
  max_attempts: 2
  skill_directories: [skills]
"""
TASK = """\
id: full
name: Full
description: About it.
tags: [a, b]
timeout_seconds: 7
context_dir: files
inputs:
  prompt: Say hello
  context: {language: de}
  files: [a.txt, {path: b.txt, content: b}]
expected: {output_contains: [hello], output_not_contains: [bye]}
graders: [{type: text, name: own, weight: 2, config: {contains: [hello]}}]
"""


def result(engine: Engine, method: str, wanted: str = "result", **params: Any) -> Any:
    given = {key: str(value) if isinstance(value, Path) else value for key, value in params.items()}
    answer = engine.request(method, **given)
    assert wanted in answer, answer
    return answer[wanted]


def error(engine: Engine, method: str, **params: Any) -> dict[str, Any]:
    return result(engine, method, "error", **params)


def suite(directory: Path, **tasks: str) -> Path:
    return write_suite(directory, tasks or {"a": task("a")}, graders=GREETS)


def test_eval_list_names_what_cannot_be_loaded_by_its_path(engine: Engine, tmp_path: Path) -> None:
    suite(tmp_path / "good")
    (tmp_path / "bad").mkdir()
    bad = tmp_path / "bad" / "eval.yml"
    bad.write_text("name: [")
    assert result(engine, "eval.list", dir=tmp_path)["evals"] == [
        {"path": str(bad), "name": str(bad)},
        {"path": str(tmp_path / "good" / "eval.yaml"), "name": "suite", "skill": "writer"},
    ]


def test_eval_get_has_upstreams_keys_and_leaves_out_what_is_empty(engine: Engine, tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, graders=GREETS, config=CONFIG)
    assert result(engine, "eval.get", path=path) == {
        "name": "suite",
        "skill": "writer",
        "config": {
            "runs_per_test": 2,
            "timeout_sec": 20,
            "concurrent": True,
            "engine_type": "mock",
            "model_id": "m",
            "judge_model": "j",
            "workers": 3,
            "stop_on_error": True,
            "max_attempts": 2,
            "skill_paths": ["skills"],
        },
        "tasks": ["tasks/*.yaml"],
        "graders": [{"name": "greets", "type": "text"}],
    }


def test_task_list_has_disabled_tasks_and_those_that_cannot_be_loaded(engine: Engine, tmp_path: Path) -> None:
    path = suite(tmp_path, a=task("a"), b="id: [", c=task("c", "enabled: false\n"))
    listed = result(engine, "task.list", path=path)["tasks"]
    assert listed == [
        {"id": name, "name": title} for name, title in (("a", "Task a"), ("b", "b"), ("c", "Task c"))
    ]
    assert error(engine, "task.get", path=path, task_id="b")["code"] == -32001
    assert result(engine, "task.get", path=path, task_id="c")["active"] is False


def test_task_get_has_upstreams_names_beside_those_of_the_file(engine: Engine, tmp_path: Path) -> None:
    found = result(engine, "task.get", path=suite(tmp_path, full=TASK), task_id="full")
    upstreams = {
        "test_id": "full",
        "display_name": "Full",
        "summary": "About it.",
        "labels": ["a", "b"],
        "timeout_sec": 7,
        "context_root": "files",
        "stimulus": {
            "message": "Say hello",
            "metadata": {"language": "de"},
            "resources": [{"location": "a.txt"}, {"location": "b.txt", "body": "b"}],
        },
        "expectation": {"must_include": ["hello"], "must_exclude": ["bye"]},
        "validators": [
            {"identifier": "own", "kind": "text", "weight": 2.0, "parameters": {"contains": ["hello"]}}
        ],
    }
    assert found | upstreams == found
    assert (found["id"], found["inputs"]["prompt"], Path(found["path"]).name) == (
        "full",
        "Say hello",
        "full.yaml",
    )


def task_of(method: str) -> dict[str, str]:
    """Return what names the task for a method that wants one; `eval.run` refuses what it does not know."""
    return {} if method == "eval.run" else {"task_id": "a"}


@pytest.mark.parametrize("method", ["eval.get", "eval.validate", "task.list", "task.get", "eval.run"])
def test_a_directory_stands_for_its_eval_file(engine: Engine, tmp_path: Path, method: str) -> None:
    suite(tmp_path)
    result(engine, method, path=tmp_path, **task_of(method))
    if method == "eval.run":
        engine.events_until("ended")


@pytest.mark.parametrize("method", ["eval.get", "eval.validate", "task.list", "task.get", "eval.run"])
@pytest.mark.parametrize("place", ["gone.yaml", "gone/deeper", "empty"])
def test_a_suite_that_is_not_there_is_minus_32000(
    engine: Engine, tmp_path: Path, method: str, place: str
) -> None:
    (tmp_path / "empty").mkdir()
    found = error(engine, method, path=tmp_path / place, **task_of(method))
    assert found["code"] == -32000
    assert str(tmp_path / place) in found["message"]
    assert found["data"] == found["message"]


@pytest.mark.parametrize(
    ("method", "code"),
    [("eval.get", -32603), ("task.list", -32603), ("task.get", -32603), ("eval.run", -32001)],
)
def test_a_suite_that_cannot_be_loaded_has_the_code_of_its_method(
    engine: Engine, tmp_path: Path, method: str, code: int
) -> None:
    (tmp_path / "eval.yaml").write_text("name: x\nconfig: [\n")
    found = error(engine, method, path=tmp_path, **task_of(method))
    assert found["code"] == code
    assert "eval.yaml:" in found["message"]


@pytest.mark.parametrize(
    ("method", "params", "said"),
    [
        ("eval.list", {}, "`dir`"),
        ("eval.list", {"dir": 3}, "`dir`"),
        ("eval.list", {"dir": "/nowhere/at/all"}, "no directory"),
        ("eval.get", {}, "`path`"),
        ("eval.get", {"path": ""}, "`path`"),
        ("eval.get", {"path": 3}, "`path`"),
        ("eval.get", {"path": "a\0b"}, "`path`"),
        ("eval.validate", {}, "`path`"),
        ("eval.run", {}, "`path`"),
        ("eval.run", {"path": "SUITE", "tasks": "a"}, "`tasks`"),
        ("eval.run", {"path": "SUITE", "tasks": [1]}, "`tasks`"),
        ("eval.run", {"path": "SUITE", "trials": 0}, "`trials`"),
        ("eval.run", {"path": "SUITE", "trials": True}, "`trials`"),
        ("eval.run", {"path": "SUITE", "context_dir": 3}, "`context_dir`"),
        ("task.list", {}, "`path`"),
        ("task.get", {"path": "SUITE"}, "`task_id`"),
        ("task.get", {"path": "SUITE", "task_id": "z"}, "no task z"),
        ("run.status", {}, "`run_id`"),
        ("run.status", {"run_id": "z"}, "no run z"),
        ("run.cancel", {}, "`run_id`"),
        ("run.cancel", {"run_id": "z"}, "no run z"),
        ("grader.grade", {}, "`record`"),
        ("grader.grade", {"record": "SUITE"}, "no results yet; run it first."),
    ],
)
def test_bad_parameters_are_minus_32602(
    engine: Engine, tmp_path: Path, method: str, params: dict[str, Any], said: str
) -> None:
    path = suite(tmp_path)
    given = {key: str(path) if value == "SUITE" else value for key, value in params.items()}
    found = error(engine, method, **given)
    assert found["code"] == -32602
    assert said in found["message"]


@pytest.mark.parametrize(
    "params", [{"tasks": ["nope"]}, {"graders": ["nope"]}, {"executor": "nope"}, {"context_dir": "/nowhere"}]
)
def test_a_run_that_cannot_start_as_asked_is_minus_32001(
    engine: Engine, tmp_path: Path, params: dict[str, Any]
) -> None:
    found = error(engine, "eval.run", path=suite(tmp_path), **params)
    assert (found["code"], "Traceback" in found["message"]) == (-32001, False)


def test_validating_a_suite_that_is_no_yaml_says_only_that(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "eval.yaml").write_text("name: [")
    found = result(engine, "eval.validate", path=tmp_path)
    assert (found["valid"], len(found["errors"])) == (False, 1)


def test_validating_names_trials_time_limit_and_executor(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "eval.yaml").write_text("name: a\nconfig: {trials_per_task: 0}\ntasks: ['tasks/*.yaml']\n")
    found = result(engine, "eval.validate", path=tmp_path)
    assert found["valid"] is False
    assert "trials_per_task" in " ".join(found["errors"])


def test_a_run_has_its_fixtures_where_the_caller_says(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "a.txt").write_text("hello there")
    path = suite(tmp_path / "suite", a="id: a\ninputs: {prompt: x, files: [a.txt]}\n")
    engine.run(path, context_dir=str(tmp_path / "elsewhere"))
    assert engine.events_until("ended")[-1]["status"] == "completed"


def test_the_newest_record_of_a_suite_is_graded(engine: Engine, tmp_path: Path) -> None:
    path = suite(tmp_path)
    record = recorded(path)
    found = result(engine, "grader.grade", record=tmp_path)
    assert (found["record"], found["passed"]) == (str(record), True)


def test_the_status_of_a_run_goes_from_running_to_its_end(engine: Engine, tmp_path: Path) -> None:
    waits = f"import os, time\nwhile not os.path.exists({str(tmp_path / 'go')!r}): time.sleep(0.01)"
    config = json.dumps({"command": "python3", "args": ["-c", waits]})
    slow = f"graders:\n- {{type: program, name: slow, config: {config}}}\n"
    run_id = engine.run(suite(tmp_path, a=task("a", slow)))
    assert result(engine, "run.status", run_id=run_id) == {"id": run_id, "status": "running"}
    (tmp_path / "go").touch()
    ended = engine.events_until("ended")[-1]
    assert result(engine, "run.status", run_id=run_id)["status"] == ended["status"]
    assert result(engine, "run.cancel", run_id=run_id) == {"canceled": False}


def test_an_answer_is_one_line_whatever_is_in_it(engine: Engine, tmp_path: Path) -> None:
    path = suite(tmp_path, a='id: "a\\nb\\u2028"\ninputs: {prompt: "x\\ny"}\n')
    assert result(engine, "task.list", path=path)["tasks"][0]["id"] == "a\nb\u2028"
    assert json.loads(engine.lines[-1])["result"]
