import io
import json
import queue
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.engine.serve.client import PATIENCE_SECONDS, Engine
from tests.engine.suites import GREETS, HANGS, present, task, until_kept, write_suite
from tests.patience import ON_A_BUSY_MACHINE, staying
from waza_engine import json_rpc_lines
from waza_engine.commands import methods, serve
from waza_engine.json_rpc import RpcError
from waza_engine.results.reading.newest_scores import latest_results

pytestmark = pytest.mark.check

HANGING = f"graders:\n{HANGS}"
PARENT = """\
- type: program
  name: hangs
  config:
    command: python3
    args: [-c, "import subprocess, time; subprocess.Popen(['sleep', '60']); time.sleep(60)"]
    timeout: 60
"""


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine() as started:
        yield started


@pytest.fixture(scope="module")
def lasting_engine() -> Iterator[Engine]:
    """One engine for the tests that leave nothing behind in it."""
    with Engine() as started:
        yield started


def test_a_run_is_answered_first_and_tells_its_events_until_it_ends(engine: Engine, tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a"), "b": task("b")}, graders=GREETS)
    run_id = engine.run(path, tasks=["a"])
    events = engine.events_until("ended")
    assert {event["run_id"] for event in events} == {run_id}
    assert [event["sequence"] for event in events] == list(range(1, len(events) + 1))
    assert [event["kind"] for event in events if event.get("task") == "a"] == [
        "enqueued",
        "started",
        "asking",
        "output",
        "grading",
        "graded",
        "passed",
        "passed",
    ]
    begun, ended = events[0], events[-1]
    assert (begun["kind"], begun["results_file"]) == ("run_started", ended["results_file"])
    assert (ended["status"], ended["completed"], ended["total"]) == ("completed", 1, 1)
    assert json.loads(Path(ended["results_file"]).read_text())["tasks"][0]["test_id"] == "a"
    assert engine.request("run.status", run_id=run_id)["result"] == {
        "id": run_id,
        "status": "completed",
        "results_file": ended["results_file"],
    }


def test_a_run_that_fails_says_so(lasting_engine: Engine, tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a", prompt="Bye")}, graders=GREETS)
    lasting_engine.run(path)
    assert lasting_engine.events_until("ended")[-1]["status"] == "failed"


@pytest.mark.parametrize(
    "grader",
    [
        HANGS,
        "- {type: code, name: hangs, config: {assertions: [\"re.match('(a+)+$', 'a' * 60 + 'b')\"]}}\n",
        PARENT,
    ],
    ids=["program", "assertion", "program with a child"],
)
def test_cancelling_ends_a_run_within_two_seconds_and_leaves_no_process(
    engine: Engine, tmp_path: Path, grader: str
) -> None:
    run_id = engine.run(write_suite(tmp_path, {"a": task("a", f"graders:\n{grader}")}))
    engine.events_until("output")
    time.sleep(0.7)
    processes = engine.until_it_has_descendants()
    started = time.monotonic()
    assert engine.request("run.cancel", run_id=run_id)["result"] == {"canceled": True}
    ended = engine.events_until("ended")[-1]
    assert (ended["status"], ended["conclusion"]["verdict"]) == ("canceled", "interrupted")
    assert ended["conclusion"]["reasons"] == ["the run was cancelled; what was finished is kept"]
    assert time.monotonic() - started < 2.0 + ON_A_BUSY_MACHINE
    assert staying(processes) == []
    assert engine.request("run.status", run_id=run_id)["result"]["status"] == "canceled"
    assert engine.request("run.cancel", run_id=run_id)["result"] == {"canceled": False}


def test_cancelling_one_run_leaves_the_other_alone(engine: Engine, tmp_path: Path) -> None:
    nap = HANGS.replace("sleep(60)", "sleep(2)")
    hanging = engine.run(write_suite(tmp_path / "one", {"a": task("a", HANGING)}))
    napping = engine.run(write_suite(tmp_path / "two", {"b": task("b", f"graders:\n{nap}")}))
    engine.events_until("output", run_id=napping)
    engine.request("run.cancel", run_id=hanging)
    ends = dict[str, str]()
    while len(ends) < 2:
        event = engine.next_event()
        if event["kind"] == "ended":
            ends[event["run_id"]] = event["status"]
    assert ends == {hanging: "canceled", napping: "completed"}


def test_the_end_of_input_cancels_everything_within_two_seconds(tmp_path: Path) -> None:
    engine = Engine()
    engine.run(write_suite(tmp_path, {"a": task("a"), "b": task("b", HANGING)}, graders=GREETS))
    engine.events_until("output", task="b")
    processes = engine.until_it_has_descendants()
    assert engine.close() < 2.0 + ON_A_BUSY_MACHINE
    assert engine.process.returncode == 0
    assert staying(processes) == []
    found = present(latest_results(tmp_path))
    assert found.status == "canceled"
    assert {task.id: task.status for task in found.tasks.values()} == {"a": "passed", "b": "skipped"}


def test_a_killed_engine_leaves_readable_results_and_the_next_run_makes_them_whole(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a"), "b": task("b", HANGING)}, graders=GREETS)
    engine = Engine()
    engine.run(path)
    engine.events_until("output", task="b")
    until_kept(tmp_path, "a")
    engine.kill()
    found = present(latest_results(tmp_path))
    assert (found.complete, found.tasks["a"].graders["greets"].score) == (False, 1.0)
    with Engine() as again:
        again.run(path, tasks=["a"])
        again.events_until("ended")
    documents = sorted((tmp_path / ".waza" / "results").glob("*.json"))
    assert [json.loads(path.read_text())["tasks"][0]["test_id"] for path in documents] == ["a", "a"]
    assert not list((tmp_path / ".waza" / "results").glob("*.partial.jsonl"))


def test_what_a_suite_prints_never_reaches_the_wire(lasting_engine: Engine, tmp_path: Path) -> None:
    noisy = HANGS.replace("import time; time.sleep(60)", "print('noise')")
    lasting_engine.run(write_suite(tmp_path, {"a": task("a", f"graders:\n{noisy}")}))
    lasting_engine.events_until("ended")
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in lasting_engine.lines)


@pytest.mark.parametrize(
    ("line", "code", "identifier"),
    [
        ("no json", -32700, None),
        ("[" * 100_000, -32700, None),
        ("[]", -32600, None),
        ("3", -32600, None),
        ('{"id": 1, "method": "eval.list"}', -32600, 1),
        ('{"jsonrpc": "1.0", "id": 2, "method": "eval.list"}', -32600, 2),
        ('{"jsonrpc": "2.0", "id": 3, "method": 4}', -32600, 3),
        ('{"jsonrpc": "2.0", "id": 4, "method": "eval.fly"}', -32601, 4),
        ('{"jsonrpc": "2.0", "id": 5, "method": "eval.run", "params": [1]}', -32602, 5),
        ('{"jsonrpc": "2.0", "id": "x", "method": "run.cancel", "params": {"run_id": "gone"}}', -32602, "x"),
    ],
)
def test_a_bad_message_gets_its_code_and_the_next_one_an_answer(
    lasting_engine: Engine, line: str, code: int, identifier: object, tmp_path: Path
) -> None:
    lasting_engine.write(line)
    answer = lasting_engine.next_message()
    assert (answer["id"], answer["error"]["code"]) == (identifier, code)
    assert lasting_engine.request("eval.list", dir=str(tmp_path))["result"] == {"evals": []}


def test_a_suite_that_cannot_be_loaded_is_refused_with_the_place(
    lasting_engine: Engine, tmp_path: Path
) -> None:
    path = tmp_path / "eval.yaml"
    path.write_text("name: x\nconfig: {trials_per_task: none}\n")
    assert "eval.yaml:2" in lasting_engine.request("eval.run", path=str(path))["error"]["message"]
    empty = write_suite(tmp_path / "empty", {})
    assert lasting_engine.request("eval.run", path=str(empty))["error"]["code"] == -32001


def test_notifications_and_blank_lines_are_never_answered(engine: Engine, tmp_path: Path) -> None:
    engine.write("")
    engine.write('{"jsonrpc": "2.0", "method": "eval.fly"}')
    engine.write('{"jsonrpc": "2.0", "id": 99, "result": null}')
    assert engine.request("eval.list", dir=str(tmp_path))["result"] == {"evals": []}
    assert len(engine.lines) == 1


def test_validating_names_every_mistake(lasting_engine: Engine, tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a"), "b": "id: ["}, graders="- {type: nonsense, name: odd}\n")
    result = lasting_engine.request("eval.validate", path=str(path))["result"]
    assert result["valid"] is False
    assert any("b.yaml" in error for error in result["errors"])
    assert any("nonsense" in error for error in result["errors"])
    good = write_suite(tmp_path / "good", {"a": task("a")}, graders=GREETS)
    assert lasting_engine.request("eval.validate", path=str(good))["result"] == {"valid": True}


@pytest.mark.parametrize("identifier", ["[1]", '{"a": 1}', "true", "1.5", "1e999", "[" * 900 + "]" * 900])
def test_an_id_that_is_neither_text_nor_number_is_refused(lasting_engine: Engine, identifier: str) -> None:
    lasting_engine.write(f'{{"jsonrpc": "2.0", "id": {identifier}, "method": "eval.list"}}')
    answer = lasting_engine.next_message()
    assert (answer["id"], answer["error"]["code"]) == (None, -32600)


@pytest.mark.parametrize(
    "line",
    [
        '{"id": %s, "method": 4}' % ("[" * 900 + "]" * 900),
        '{"jsonrpc": "2.0", "id": 1, "method": "eval.list", "params": NaN}',
        '{"jsonrpc": "2.0", "id": 1, "method": "eval.list", "params": %s}' % ("[" * 900 + "]" * 900),
    ],
)  # fmt: skip
def test_a_line_of_any_depth_gets_an_answer(lasting_engine: Engine, line: str, tmp_path: Path) -> None:
    lasting_engine.write(line)
    assert lasting_engine.next_message()["error"]["code"] in (-32700, -32600, -32602)
    assert lasting_engine.request("eval.list", dir=str(tmp_path))["result"] == {"evals": []}


@pytest.mark.parametrize(
    "wrong",
    [
        {"tasks": "a"}, {"tasks": [1]}, {"tasks": {"a": 1}}, {"graders": "greets"}, {"graders": [None]},
        {"tags": 1}, {"trials": "2"}, {"trials": True}, {"executor": ["mock"]}, {"model": ""},
        {"task": "a"}, {"grader": "greets"}, {"filter": ["a"]},
    ],
)  # fmt: skip
def test_a_wrong_parameter_runs_nothing(
    lasting_engine: Engine, wrong: dict[str, object], tmp_path: Path
) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    error = lasting_engine.request("eval.run", path=str(path), **wrong)["error"]
    assert (error["code"], f"`{next(iter(wrong))}`" in error["message"]) == (-32602, True)
    assert not (tmp_path / ".waza").exists()


def test_taking_back_a_request_is_never_fatal(lasting_engine: Engine, tmp_path: Path) -> None:
    lasting_engine.write('{"jsonrpc": "2.0", "method": "$/cancelRequest"}')
    lasting_engine.write('{"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": [1]}}')
    assert lasting_engine.request("eval.list", dir=str(tmp_path))["result"] == {"evals": []}


def test_a_line_that_is_too_long_gets_one_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_rpc_lines, "LONGEST_LINE_BYTES", 64)
    wire = io.BytesIO()
    serve.Server(wire).read(io.BytesIO(b"x" * 1000 + b'\n{"jsonrpc": "1.0", "id": 5}\n'))
    answers = [json.loads(line) for line in wire.getvalue().splitlines()]
    assert [(answer["id"], answer["error"]["code"]) for answer in answers] == [(None, -32600), (5, -32600)]


def test_a_run_that_nobody_waits_for_starts_all_the_same(lasting_engine: Engine, tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    lasting_engine.write(json.dumps({"jsonrpc": "2.0", "method": "eval.run", "params": {"path": str(path)}}))
    assert lasting_engine.events_until("ended")[-1]["status"] == "completed"


def test_the_limits_of_a_run_have_the_names_of_the_command(lasting_engine: Engine, tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a", "tags: [smoke]\n"), "b": task("b")}, graders=GREETS)
    lasting_engine.run(path, max_cost=0.5, max_tokens=0, tags=["smoke"], skip_graders=True, baseline=False)
    ended = lasting_engine.events_until("ended")[-1]
    document = json.loads(Path(ended["results_file"]).read_text("utf-8"))
    settings = document["metadata"]["engine"]["settings"]
    assert (settings["max_cost_usd"], settings["max_tokens"], settings["tags"]) == (0.5, 0, ["smoke"])
    assert [found["status"] for found in document["tasks"]] == ["skipped"]
    for wrong in ({"max_cost": -1}, {"max_tokens": "many"}, {"cache": "yes"}, {"max_cost": True}):
        answer = lasting_engine.request("eval.run", path=str(path), **wrong)
        assert answer["error"]["code"] == -32602


def test_only_the_last_ended_runs_are_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(methods, "_MOST_ENDED", 1)
    path = write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    events: queue.SimpleQueue[Mapping[str, object]] = queue.SimpleQueue()
    served = methods.Methods(events.put)
    ids: list[str] = []
    for _ in range(3):
        answer = served.table["eval.run"]({"path": str(path)})()
        ids.append(answer["run_id"])
        served.answered({"result": answer})
        while events.get(timeout=PATIENCE_SECONDS)["kind"] != "ended":
            pass
    # The run that ended last is forgotten only when the next one has ended.
    assert served.table["run.status"]({"run_id": ids[-1]})()["status"] == "completed"
    with pytest.raises(RpcError):
        served.table["run.status"]({"run_id": ids[0]})()
