from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.engine.serve.client import Engine
from tests.engine.suites import GREETS, HANGS, run, task, write_suite
from tests.patience import staying

SAYS = "- {type: text, name: says, config: {contains: [adieu]}}\n"


def recorded(path: Path) -> Path:
    report, _ = run(path)
    assert report.results_file is not None
    return report.results_file


def test_a_record_is_graded_per_task_and_grader(tmp_path: Path) -> None:
    record = recorded(write_suite(tmp_path, {"a": task("a"), "b": task("b")}, graders=GREETS + SAYS))
    with Engine() as engine:
        found = engine.request("grader.grade", record=str(record), task="b", grader="says")["result"]
    assert list(found["tasks"]) == ["b"]
    says = found["tasks"]["b"]["graders"]["says"]
    assert (says["score"], says["passed"]) == (0.0, False)
    assert says["checks"][0]["path"] == ["contains", 0]
    assert "adieu" in says["feedback"]


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({}, -32602),
        ({"record": "/gone.json"}, -32602),
        ({"record": "RECORD", "suite": "/gone.yaml"}, -32000),
        ({"record": "RECORD", "grader": "nope"}, -32001),
        ({"record": "RECORD", "task": 3}, -32602),
    ],
)
def test_what_cannot_be_graded_has_a_code_and_a_reason(
    tmp_path: Path, params: dict[str, Any], code: int
) -> None:
    record = recorded(write_suite(tmp_path, {"a": task("a")}, graders=GREETS))
    given = {key: str(record) if value == "RECORD" else value for key, value in params.items()}
    with Engine() as engine:
        error = engine.request("grader.grade", **given)["error"]
    assert (error["code"], bool(error["message"])) == (code, True)


def test_closing_the_input_ends_a_grader_that_hangs_with_its_program(tmp_path: Path) -> None:
    record = recorded(write_suite(tmp_path, {"a": task("a")}, graders=GREETS))
    write_suite(tmp_path, {"a": task("a")}, graders=HANGS)
    engine = Engine()
    params = {"record": str(record)}
    engine.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "grader.grade", "params": params}))
    deadline = time.monotonic() + 15
    while not (programs := engine.descendants()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert programs
    assert engine.close() < 3
    assert staying(programs) == []
