import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.engine.serve.client import Engine
from tests.engine.suites import GREETS, HANGS, recorded, task, write_suite
from tests.patience import staying

pytestmark = pytest.mark.check


SAYS = "- {type: text, name: says, config: {contains: [adieu]}}\n"


def test_a_record_is_graded_per_task_and_grader(engine: Engine, tmp_path: Path) -> None:
    record = recorded(write_suite(tmp_path, {"a": task("a"), "b": task("b")}, graders=GREETS + SAYS))
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
        ({"record": "RECORD", "overlays": ["eval.yaml"]}, -32602),
        ({"record": "RECORD", "overlays": {"/eval.yaml": None}}, -32602),
        ({"record": "RECORD", "overlays": {"": "text"}}, -32602),
    ],
)
def test_what_cannot_be_graded_has_a_code_and_a_reason(
    engine: Engine, tmp_path: Path, params: dict[str, Any], code: int
) -> None:
    record = recorded(write_suite(tmp_path, {"a": task("a")}, graders=GREETS))
    given = {key: str(record) if value == "RECORD" else value for key, value in params.items()}
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


def test_open_texts_are_graded_and_not_what_is_on_the_disk(engine: Engine, tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a"), "b": task("b")}, graders=GREETS)
    record = str(recorded(path))
    overlays = {
        str(path): path.read_text() + SAYS,
        str(tmp_path / "tasks" / "b.yaml"): task("b", "expected: {output_contains: [adieu]}\n"),
    }
    before = engine.request("grader.grade", record=record)["result"]
    typed = engine.request("grader.grade", record=record, overlays=overlays)["result"]
    after = engine.request("grader.grade", record=record)["result"]
    broken = engine.request("grader.grade", record=record, overlays={str(path): "tasks: ["})["error"]
    assert list(typed["tasks"]["b"]["graders"]) == ["greets", "says", "_output_contains"]
    assert not typed["passed"]
    assert before == after
    assert before["passed"]
    assert (broken["code"], f"{path}:" in broken["message"]) == (-32001, True)


def test_workers_stay_for_the_next_request_and_end_with_the_connection(tmp_path: Path) -> None:
    long = "- {type: code, name: long, config: {assertions: [len(output) > 3]}}\n"
    record = str(recorded(write_suite(tmp_path, {"a": task("a")}, graders=long)))
    engine = Engine()
    assert engine.request("grader.grade", record=record)["result"]["passed"]
    (worker,) = engine.descendants()
    assert engine.request("grader.grade", record=record, grader="long")["result"]["passed"]
    assert engine.descendants() == [worker]
    engine.close()
    assert staying([worker]) == []


def test_workers_end_with_an_engine_that_is_killed(tmp_path: Path) -> None:
    long = "- {type: code, name: long, config: {assertions: [len(output) > 3]}}\n"
    record = str(recorded(write_suite(tmp_path, {"a": task("a")}, graders=long)))
    engine = Engine()
    assert engine.request("grader.grade", record=record)["result"]["passed"]
    workers = engine.descendants()
    engine.process.kill()
    engine.process.wait()
    assert staying(workers) == []
