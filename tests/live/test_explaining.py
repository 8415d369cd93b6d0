"""A live session explains a rule by the texts that it has, and gives way to the next edit."""

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.engine.serve.client import Engine
from tests.live.bed import recorded_bed
from tests.patience import ON_A_BUSY_MACHINE
from waza_engine.lab.live.live_session import LiveSession
from waza_engine.lab.live.recorded_rules import explained
from waza_engine.lab.live.work import LiveRequest

pytestmark = pytest.mark.check

GRADERS = """\
- {type: text, name: greets, config: {contains: [hello]}}
- {type: code, name: long, config: {assertions: [len(output) > 20]}}
- {type: behavior, name: few, config: {max_tool_calls: 2}}
- {type: prompt, name: judged, config: {prompt: Is it good?}}
"""


@pytest.fixture
def suite(tmp_path: Path) -> tuple[Path, Path]:
    return recorded_bed(tmp_path / "suite", GRADERS)


def test_the_worst_trial_is_told_and_all_are_listed(session: LiveSession) -> None:
    found = explained(session, "few", ("max_tool_calls",))
    assert found is not None
    assert [(one.met.observed, one.passed) for one in found.trials] == [
        ("3", False),
        ("1", True),
        ("0", True),
        ("4", False),
        ("3", False),
        ("1", True),
    ]
    assert (found.total, found.most.task, found.most.trial) == (6, "t1", 2)


def test_it_is_of_the_text_of_the_last_update(suite: tuple[Path, Path], session: LiveSession) -> None:
    text = suite[0].read_text("utf-8").replace("max_tool_calls: 2", "max_tool_calls: 3")
    session.take({suite[0]: text})
    found = explained(session, "few", ("max_tool_calls",))
    assert found is not None
    assert [one.passed for one in found.trials] == [True, True, True, False, True, True]


def test_only_the_trials_of_a_task_count_for_what_is_its_own(suite: tuple[Path, Path]) -> None:
    session = LiveSession(LiveRequest(suite[1], suite[0], trial=2))
    try:
        found = explained(session, "few", ("max_tool_calls",), "t1")
        assert found is not None
        assert [(one.task, one.trial) for one in found.trials] == [("t1", 2)]
    finally:
        session.close()


def test_a_grader_of_a_task_is_not_taken_for_that_of_the_suite(
    suite: tuple[Path, Path], session: LiveSession
) -> None:
    task = suite[0].parent / "tasks" / "t1.yaml"
    own = "graders:\n  - {type: behavior, name: few, config: {max_tool_calls: 9}}\n"
    session.take({task: task.read_text("utf-8") + own})
    of_suite = explained(session, "few", ("max_tool_calls",))
    of_task = explained(session, "few", ("max_tool_calls",), "t1")
    assert of_suite is not None
    assert of_task is not None
    assert {one.task for one in of_suite.trials} == {"t0", "t2"}
    assert [one.passed for one in of_task.trials] == [True, True]


def test_what_a_task_expects_is_explained(suite: tuple[Path, Path], session: LiveSession) -> None:
    task = suite[0].parent / "tasks" / "t1.yaml"
    expected = "expected: {output_contains: [permision denied]}\n"
    session.take({task: task.read_text("utf-8") + expected})
    found = explained(session, "_output_contains", ("output_contains", 0), "t1")
    assert found is not None
    assert found.most.met.excerpt is not None
    assert found.most.met.excerpt.found == "permission denied"


def test_what_is_never_judged_live_is_not_explained(suite: tuple[Path, Path], session: LiveSession) -> None:
    assert explained(session, "judged", ("prompt",)) is None
    without = LiveSession(LiveRequest(suite[1], suite[0], assertions=False))
    try:
        assert explained(without, "long", ("assertions", 0)) is None
        assert without.workers.process_ids() == []
    finally:
        without.close()


def test_an_edit_ends_an_explanation_that_hangs(suite: tuple[Path, Path], session: LiveSession) -> None:
    text = suite[0].read_text("utf-8")
    session.update({suite[0]: None}, lambda _: None)
    slow = text.replace("len(output) > 20", "\"re.fullmatch('(a+)+b', 'a' * 60)\"")
    session.take({suite[0]: slow})
    asking = threading.Thread(target=lambda: explained(session, "long", ("assertions", 0)))
    asking.start()
    time.sleep(0.2)
    started = time.monotonic()
    assert session.update({suite[0]: text}, lambda _: None).status == "judged"
    asking.join()
    assert time.monotonic() - started < ON_A_BUSY_MACHINE


def test_it_is_asked_over_the_wire(suite: tuple[Path, Path]) -> None:
    with Engine() as engine:
        opened = engine.request("live.open", record=str(suite[1]), suite=str(suite[0]))["result"]
        name = opened["session"]
        deadline = time.monotonic() + ON_A_BUSY_MACHINE
        answer: dict[str, Any] = {"total": -1, "trials": []}
        # An answer has the trials that were looked at in its time.
        while len(answer["trials"]) != answer["total"] and time.monotonic() < deadline:
            params = {"session": name, "grader": "greets", "path": ["contains", 0]}
            answer = engine.request("live.explain", **params)["result"]
        assert [one["observed"] for one in answer["trials"]][:2] == ["once", "nothing"]
        assert answer["most"]["told"] == ["nothing in the answer is like it, which begins:"]
        assert engine.request("live.explain", session=name, grader="nobody", path=["x"])["result"] == {}
        assert "`path`" in str(engine.request("live.explain", session=name, grader="greets")["error"])


def test_a_fix_that_would_hold_a_credential_is_not_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAZA_TEST_API_KEY", "https://example.org/1")
    path, record = recorded_bed(
        tmp_path / "suite",
        "- {type: text, name: told, config: {contains: ['deployed to https://example.com/1']}}\n"
        "- {type: text, name: other, config: {contains: ['the funktion `add` is done']}}\n",
    )
    with Engine() as engine:
        name = engine.request("live.open", record=str(record), suite=str(path))["result"]["session"]
        engine.request("live.update", session=name)
        told = engine.request("live.fixes", session=name, grader="told", path=["contains", 0])["result"]
        other = engine.request("live.fixes", session=name, grader="other", path=["contains", 0])["result"]
    assert told == {"fixes": []}
    assert [fix["value"] for fix in other["fixes"]] == ["the function `add` is done"]
