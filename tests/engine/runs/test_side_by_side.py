"""Trials are handed out as requests, side by side when the suite is parallel, and come back as one task."""

import json
from pathlib import Path

import pytest

from tests.engine.runs.test_backends import Done, Keep
from tests.engine.suites import GREETS, config_with, noting_hooks, only_task, run, task, write_suite
from waza_engine.runs.events.stream import RunEvent
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.preparing import prepare
from waza_engine.runs.settings.table import RunSettings
from waza_engine.runs.trials.backend import ThreadBackend
from waza_engine.runs.trials.context import TrialRequest, request_from
from waza_engine.runs.trials.trial import Tell

pytestmark = pytest.mark.check

COUNTS = """\
import os, sys, time
place, wanted, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
mine = os.path.join(place, str(os.getpid()))
open(mine, "w").close()
limit = time.monotonic() + seconds
while len(os.listdir(place)) < wanted and time.monotonic() < limit:
    time.sleep(0.01)
raise SystemExit(len(os.listdir(place)) != wanted or wanted == 1 and os.remove(mine))
"""


def meets(place: Path, wanted: int, seconds: float) -> str:
    """Return a grader that passes when as many trials as wanted are graded at the same time."""
    place.mkdir()
    arguments = ["-c", COUNTS, str(place), str(wanted), str(seconds)]
    entry = {"type": "program", "name": "meets", "config": {"command": "python3", "args": arguments}}
    return f"- {json.dumps(entry)}\n"


def test_trials_of_one_task_run_side_by_side_and_are_kept_in_order(tmp_path: Path) -> None:
    graders = meets(tmp_path / "there", 8, 60)
    path = write_suite(tmp_path, {"a": task("a")}, graders=graders)
    report, events = run(path, trials=8, workers=8)
    assert [trial.number for trial in only_task(report).trials] == [*range(1, 9)]
    assert only_task(report).status == "passed"
    kinds = [event.kind for event in events if event.task == "a"]
    assert kinds.count("passed") == 9
    assert kinds[-1] == "passed"
    assert [event.completed for event in events if event.kind == "passed" and event.trial] == [*range(1, 9)]


@pytest.mark.parametrize("options", [{}, {"parallel": False, "workers": 8}, {"parallel": True, "workers": 1}])
def test_a_suite_that_is_not_parallel_keeps_one_after_another(
    tmp_path: Path, options: dict[str, object]
) -> None:
    graders = meets(tmp_path / "there", 1, 0)
    path = write_suite(tmp_path, {"a": task("a"), "b": task("b")}, graders=graders)
    report, events = run(path, trials=3, **options)
    assert {found.status for found in report.outcome.tasks} == {"passed"}
    told = [
        (event.task, event.trial, event.kind) for event in events if event.trial and event.kind != "output"
    ]
    order = [(name, number) for name in "ab" for number in (1, 2, 3)]
    assert told == [
        (name, number, kind)
        for name, number in order
        for kind in ("started", "asking", "grading", "graded", "passed")
    ]


def test_free_workers_begin_the_next_task_when_the_first_has_no_more_trials(tmp_path: Path) -> None:
    graders = meets(tmp_path / "there", 4, 60)
    path = write_suite(tmp_path, {name: task(name) for name in "ab"}, graders=graders)
    report, _ = run(path, trials=2, workers=4)
    assert [(found.id, found.status) for found in report.outcome.tasks] == [("a", "passed"), ("b", "passed")]


def test_hooks_of_a_task_run_once_around_all_its_trials(tmp_path: Path) -> None:
    hooks, log = noting_hooks(tmp_path, "before_task", "after_task"), tmp_path / "log"
    arguments = [str(tmp_path / "note.py"), str(log), "trial"]
    noted = {"type": "program", "name": "noted", "config": {"command": "python3", "args": arguments}}
    path = write_suite(tmp_path, {"a": task("a")}, graders=f"- {json.dumps(noted)}\n", more=hooks)
    run(path, trials=4, workers=4)
    assert log.read_text().split() == ["before_task", *["trial"] * 4, "after_task"]


def test_a_task_that_has_begun_is_finished_and_no_other_begins_after_a_failure(tmp_path: Path) -> None:
    fails = "- {type: text, name: fails, config: {contains: [goodbye]}}\n"
    path = write_suite(tmp_path, {f"t{n}": task(f"t{n}") for n in range(10, 60)}, graders=fails)
    report, _ = run(path, trials=2, workers=2, fail_fast=True)
    found = [(each.status, len(each.trials)) for each in report.outcome.tasks]
    assert (found[0], found[-1]) == (("failed", 2), ("skipped", 0))
    assert set(found) == {("failed", 2), ("skipped", 0)}


class Posted(ThreadBackend):
    """Sends every request through JSON, and keeps what was sent."""

    sent: list[str] = []  # noqa: RUF012 - one test uses it

    def start(self, request: TrialRequest, tell: Tell, keep: Keep, done: Done) -> None:
        text = json.dumps(request.document())
        self.sent.append(text)
        super().start(request_from(json.loads(text)), tell, keep, done)


def test_a_trial_is_a_request_that_can_be_written_down(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a"), "b": task("b")}, graders=GREETS)
    settings = RunSettings(path, tasks=("b",), trials=2, fail_fast=False, max_tokens=0, cache=False)
    report = prepare(settings, backend=Posted).run(lambda _: None, RunCancellation())
    assert only_task(report).status == "passed"
    sent = [request_from(json.loads(text)) for text in Posted.sent]
    assert [(one.settings, one.task, one.trial, one.attempt) for one in sent] == [
        (settings, "b", 1, 1),
        (settings, "b", 2, 1),
    ]


class Broken(ThreadBackend):
    """Loses every second trial."""

    def start(self, request: TrialRequest, tell: Tell, keep: Keep, done: Done) -> None:
        if request.trial % 2:
            super().start(request, tell, keep, done)
        else:
            done(ConnectionError("the machine is gone"))


def test_a_trial_that_is_lost_costs_no_other_trial(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    report = prepare(RunSettings(path, trials=2), backend=Broken).run(lambda _: None, RunCancellation())
    found = only_task(report)
    assert found.status == "error"
    assert [trial.status for trial in found.trials] == ["passed", "error"]
    assert "ConnectionError: the machine is gone" in found.trials[1].error


class Second(ThreadBackend):
    """Hands every trial out as if a first attempt had been made."""

    def start(self, request: TrialRequest, tell: Tell, keep: Keep, done: Done) -> None:
        document = request.document() | {"attempt": 2}
        super().start(request_from(document), tell, keep, done)


def test_attempts_that_are_spent_are_not_made_again(tmp_path: Path) -> None:
    fails = "- {type: text, name: fails, config: {contains: [goodbye]}}\n"
    path = write_suite(tmp_path, {"a": task("a")}, graders=fails, config=config_with("max_attempts: 3"))
    events: list[RunEvent] = []
    report = prepare(RunSettings(path), backend=Second).run(events.append, RunCancellation())
    assert only_task(report).trials[0].attempts == 3
    assert [event.kind for event in events].count("output") == 2
