"""A live session judges what an edit touches and nothing else, and executes nothing."""

import hashlib
import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.engine.serve.client import Engine
from tests.live.bed import recorded_bed
from tests.patience import ON_A_BUSY_MACHINE
from waza_engine.lab.live.live_session import LiveSession
from waza_engine.lab.live.work import LiveRequest, LiveVerdicts

pytestmark = pytest.mark.check

GREETS = "- {type: text, name: greets, config: {contains: [hello]}}\n"
LONG = "- {type: code, name: long, config: {assertions: [len(output) > 20]}}\n"
FEW = "- {type: behavior, name: few, config: {max_tool_calls: 2}}\n"


class Bed:
    """A session, and what it told at the last update."""

    def __init__(self, folder: Path, graders: str, **options: Any) -> None:
        self.path, self.record = recorded_bed(folder, graders)
        self.session = LiveSession(LiveRequest(self.record, self.path, **options))
        self.told: list[LiveVerdicts] = []

    def edit(self, old: str = "", new: str = "") -> list[str]:
        """Replace a text of the eval file and return the graders that were judged again, in order."""
        text = self.path.read_text("utf-8")
        assert old in text
        return self.type(text.replace(old, new))

    def type(self, text: str | None) -> list[str]:
        self.told.clear()
        self.update = self.session.update({self.path: text}, self.told.append)
        return [verdicts.grader for verdicts in self.told]

    def passes(self, grader: str) -> list[bool]:
        (found,) = [verdicts for verdicts in self.told if verdicts.grader == grader]
        return [verdict.passed for task in found.tasks.values() for _, verdict in task.trials]


@pytest.fixture
def bed(tmp_path: Path) -> Iterator[Bed]:
    found = Bed(tmp_path / "suite", GREETS + LONG + FEW)
    yield found
    found.session.close()


def test_the_first_update_judges_everything(bed: Bed) -> None:
    assert bed.type(None) == ["greets", "long", "few"]
    assert bed.passes("greets") == [True, False, False, False, True, True]
    assert bed.update.judged == 18


def test_an_edit_judges_the_grader_that_it_touches_alone(bed: Bed) -> None:
    bed.type(None)
    assert bed.edit("len(output) > 20", "len(output) > 40") == ["long"]
    assert bed.update.judged == 6
    assert bed.edit("hello", "function") == ["greets", "long"]
    assert bed.passes("greets") == [True, False, False, False, False, True]


def test_what_was_touched_comes_first(bed: Bed) -> None:
    bed.type(None)
    assert bed.edit("max_tool_calls: 2", "max_tool_calls: 9") == ["few"]
    task = bed.path.parent / "tasks" / "t1.yaml"
    bed.told.clear()
    bed.session.update(
        {
            task: task.read_text("utf-8").replace("Say hello", "Say it"),
            bed.path: bed.path.read_text("utf-8").replace("len(output) > 20", "output"),
        },
        bed.told.append,
    )
    told = [verdicts.grader for verdicts in bed.told]
    assert (told[0], sorted(told)) == ("long", ["few", "greets", "long"])
    assert list(bed.told[-1].tasks) == ["t1"]


def test_text_that_cannot_be_read_says_nothing(bed: Bed) -> None:
    bed.type(None)
    assert bed.type("name: [suite") == []
    assert bed.update.status == "unreadable"
    assert bed.type(None) == []
    assert bed.update.status == "judged"


def test_a_task_that_cannot_be_read_is_silent_and_the_others_are_judged(bed: Bed) -> None:
    bed.type(None)
    task = bed.path.parent / "tasks" / "t1.yaml"
    bed.told.clear()
    update = bed.session.update(
        {task: "id: [t1", bed.path: bed.path.read_text("utf-8").replace("hello", "add")}, bed.told.append
    )
    assert list(update.silent or {}) == ["t1"]
    assert list(bed.told[0].tasks) == ["t0", "t2"]


def test_a_schema_beside_the_suite_is_judged_as_it_is_typed(tmp_path: Path) -> None:
    bed = Bed(
        tmp_path / "suite",
        GREETS + "- {type: json_schema, name: shape, config: {schema_file: schemas/answer.json}}\n",
    )
    bed.type(None)
    assert bed.passes("shape") == [False, True, False, False, False, False]
    schema = bed.path.parent / "schemas" / "answer.json"
    bed.told.clear()
    bed.session.update({schema: '{"required": ["gone"]}'}, bed.told.append)
    assert [verdicts.grader for verdicts in bed.told] == ["shape"]
    assert not any(bed.passes("shape"))
    bed.session.close()


SHAPE = "- {type: json_schema, name: shape, config: {schema_file: schemas/answer.json}}\n"


def test_the_schema_that_a_verdict_was_judged_by_is_told_as_it_was_read(tmp_path: Path) -> None:
    bed = Bed(tmp_path / "suite", GREETS + SHAPE)
    schema = bed.path.parent / "schemas" / "answer.json"
    bed.type(None)
    assert read_by(bed) == {"greets": {}, "shape": {schema: digest(schema.read_text("utf-8"))}}
    bed.told.clear()
    bed.session.update({schema: "{}"}, bed.told.append)
    assert read_by(bed) == {"shape": {schema: digest("{}")}}
    bed.session.close()


@pytest.mark.parametrize("seen", ["named by the task", "its folder is named", "a fixture", "of a skill"])
def test_a_file_that_the_agent_may_have_seen_is_none_that_only_judges(tmp_path: Path, seen: str) -> None:
    bed = Bed(tmp_path / "suite", SHAPE)
    task = bed.path.parent / "tasks" / "t1.yaml"
    text = task.read_text("utf-8")
    match seen:
        case "named by the task":
            task.write_text(text.replace("Say hello", "Say what schemas/answer.json wants"), "utf-8")
        case "its folder is named":
            task.write_text(text.replace("Say hello}", "Say hello, context: {fixture: schemas}}"), "utf-8")
        case "a fixture":
            task.write_text(text + "context_dir: schemas\n", "utf-8")
        case _:
            (bed.path.parent / "SKILL.md").write_text("---\nname: shapes\ndescription: x\n---\n", "utf-8")
    bed.type(None)
    told = {task: sorted(path.name for path in each.read) for task, each in bed.told[0].tasks.items()}
    others = [] if seen == "of a skill" else ["answer.json"]
    assert told == {"t0": others, "t1": [], "t2": others}
    bed.session.close()


def read_by(bed: Bed) -> dict[str, dict[Path, str]]:
    return {
        each.grader: {path: said for task in each.tasks.values() for path, said in task.read.items()}
        for each in bed.told
    }


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_the_newest_edit_wins_also_over_an_assertion_that_hangs(bed: Bed) -> None:
    bed.type(None)
    text = bed.path.read_text("utf-8")
    statuses: list[str] = []

    def hang() -> None:
        slow = text.replace("len(output) > 20", "\"re.fullmatch('(a+)+b', 'a' * 60)\"")
        statuses.append(bed.session.update({bed.path: slow}, lambda _: None).status)

    typing = threading.Thread(target=hang)
    typing.start()
    time.sleep(0.2)
    started = time.monotonic()
    assert bed.edit("len(output) > 20", "len(output) > 40") == ["long"]
    typing.join()
    assert statuses == ["superseded"]
    assert time.monotonic() - started < ON_A_BUSY_MACHINE
    assert bed.passes("long") == [True, True, True, False, False, True]


def test_one_trial_can_be_the_test_bed(tmp_path: Path) -> None:
    bed = Bed(tmp_path / "suite", GREETS, trial=2)
    bed.type(None)
    assert bed.passes("greets") == [False, False, True]
    bed.session.close()


def test_without_assertions_their_graders_keep_what_they_said(tmp_path: Path) -> None:
    bed = Bed(tmp_path / "suite", GREETS + LONG, assertions=False)
    bed.type(None)
    assert bed.session.workers.process_ids() == []
    recorded = next(verdicts for verdicts in bed.told if verdicts.grader == "long")
    assert {verdict.details["origin"] for _, verdict in recorded.tasks["t0"].trials} == {"recorded"}
    bed.session.close()


PRINTS = (
    "- {type: file, name: prints, config: {content_patterns: [{path: main.py, must_match: ['return 1']}]}}\n"
)


def test_files_that_the_agent_left_are_looked_at_again_when_they_have_changed(tmp_path: Path) -> None:
    bed = Bed(tmp_path / "suite", GREETS + PRINTS)
    bed.type(None)
    assert bed.passes("prints") == [False, True, False, False, False, True]
    # A stamp that is a moment old does not tell whether the file is the same.
    deadline = time.monotonic() + 2 + ON_A_BUSY_MACHINE
    while bed.type(None):
        assert time.monotonic() < deadline
    assert bed.edit("hello", "function") == ["greets"]
    left = bed.path.parent / "workspaces" / "1" / "main.py"
    left.write_text("return 2", "utf-8")
    assert bed.type(bed.path.read_text("utf-8")) == ["greets", "prints"]
    assert bed.passes("prints") == [False, False]  # of the task that it was left in
    shutil.rmtree(left.parent)
    bed.type(None)
    gone = next(verdicts for verdicts in bed.told if verdicts.grader == "prints").tasks["t0"].trials[1][1]
    assert (gone.passed, gone.details["origin"]) == (False, "recorded")
    bed.session.close()


CANARY = """\
- {type: program, name: runs, config: {command: touch, args: [CANARY/program]}}
- {type: script, name: scripted, config: {script: grade.sh}}
- {type: inline, name: inlined, config: {command: touch CANARY/inline}}
- {type: prompt, name: judged, config: {prompt: Is it good?}}
- {type: somebody_elses, name: plugged, config: {}}
- type: diff
  name: taken
  config: {update_snapshots: true, expected_files: [{path: main.py, snapshot: snapshots/main.py}]}
"""
HOOKS = """\
hooks:
  before_run: [{command: touch CANARY/hook}]
  after_run: [{command: touch CANARY/hook}]
"""


def test_edits_execute_nothing_but_the_worker(tmp_path: Path) -> None:
    """The audit events of the interpreter tell of every process and connection."""
    canary = tmp_path / "canary"
    canary.mkdir()
    path, record = recorded_bed(tmp_path / "suite", GREETS + LONG)
    (path.parent / "grade.sh").write_text(f"#!/bin/sh\ntouch {canary}/script\n", "utf-8")
    (path.parent / "grade.sh").chmod(0o755)
    snapshot = (path.parent / "snapshots" / "main.py").read_bytes()
    text = path.read_text("utf-8") + (CANARY + HOOKS).replace("CANARY", str(canary))
    log = _Log()
    session = LiveSession(LiveRequest(record, path))
    try:
        with log:
            for number in range(80):
                edited = text.replace("len(output) > 20", f"len(output) > {number % 40}")
                edited = edited.replace("is it good", f"is it good {number}").replace(
                    "touch ", "touch " + " " * (number % 2)
                )
                assert session.update({path: edited}, lambda _: None).status == "judged"
    finally:
        session.close()
    assert list(canary.iterdir()) == []
    assert (path.parent / "snapshots" / "main.py").read_bytes() == snapshot
    assert log.connections == []
    assert {Path(command[-1]).name for command in log.processes} == {"worker.py"}
    assert len(log.processes) == 1


class _Log:
    """What the process starts and connects to, by the interpreter's own audit events."""

    def __init__(self) -> None:
        self.processes: list[list[str]] = []
        self.connections: list[object] = []
        self._open = False
        sys.addaudithook(self._take)

    def __enter__(self) -> None:
        self._open = True

    def __exit__(self, *_: object) -> None:
        self._open = False

    def _take(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._open:
            return
        if event == "subprocess.Popen":
            self.processes.append([os.fsdecode(word) for word in arguments[1]])
        elif event in {"os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty"}:
            self.processes.append([event])
        elif event in {"socket.connect", "socket.getaddrinfo", "socket.bind"}:
            self.connections.append(arguments)


def test_the_verdicts_come_over_the_wire_before_the_answer(tmp_path: Path) -> None:
    path, record = recorded_bed(tmp_path / "suite", GREETS + FEW)
    with Engine() as engine:
        opened = engine.request("live.open", record=str(record), suite=str(path))["result"]
        assert (opened["tasks"], opened["trials"], opened["executor"]) == (3, 2, "mock")
        answer = engine.request("live.update", session=opened["session"])["result"]
        assert answer == {"status": "judged", "update": 1, "judged": 12}
        closed = engine.request("live.close", session=opened["session"])["result"]
        assert closed == {"closed": True}
        assert "There is no live session" in str(engine.request("live.update", session="9")["error"])
