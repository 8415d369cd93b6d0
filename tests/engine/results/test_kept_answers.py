"""What was paid for is on the disk before it is graded, and a journal says what kept it from its end."""

import errno
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import engine
from tests.engine.executors.agents import write_agent
from tests.engine.results.test_store import dead_run, header
from tests.engine.suites import run, task, write_suite
from waza_engine.commands.result_page import recorded_page
from waza_engine.results.record import ArrivedAnswer, TaskOutcome, TrialOutcome, TriggerOutcome, Validation
from waza_engine.results.writing.store import ResultsError, ResultStore, recover_journals
from waza_engine.scoring.cost import Cost
from waza_engine.vocabulary import Usage

pytestmark = pytest.mark.check

SAYS = 'say(type="text", text="turn " + sys.argv[-1]); say(type="result", content="turn " + sys.argv[-1])\n'
LOOKS = """\
- type: program
  name: looks
  config:
    command: python3
    args:
    - -c
    - 'import pathlib, sys; text = next(pathlib.Path("{results}").glob("*.jsonl")).read_text();
      sys.exit("turn two" not in text)'
"""
TRIGGERS = (
    "skill: writer\nshould_trigger_prompts: [{prompt: one}]\nshould_not_trigger_prompts: [{prompt: two}]\n"
)
CUT = TrialOutcome(1, "skipped", None, output="the answer", stopped=True)
TRIED = TriggerOutcome(prompt="one", should_trigger=True, did_trigger=True)


def lines_of(store: ResultStore) -> list[dict[str, Any]]:
    return [json.loads(line) for line in store.journal_path.read_text("utf-8").splitlines()]


def test_an_answer_that_is_paid_for_is_on_the_disk_before_it_is_graded(tmp_path: Path) -> None:
    results = tmp_path / ".waza" / "results"
    config = "config: {trials_per_task: 1, timeout_seconds: 20, executor: command, adapter: adapter.json}\n"
    prompts = "id: a\ninputs: {prompt: turn one, follow_up_prompts: [turn two]}\n"
    path = write_suite(
        tmp_path, {"a": prompts}, config=config, graders=LOOKS.replace("{results}", results.as_posix())
    )
    write_agent(tmp_path, SAYS, sessionMode="iterative")
    report, _ = run(path)
    assert report.outcome.status == "completed"


def test_each_answer_of_a_trial_is_kept_with_what_the_attempts_before_it_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[tuple[int, bool, int, bool]] = []

    def add_trial(_: ResultStore, name: str, trial: TrialOutcome, *, baseline: bool) -> None:
        del name, baseline
        kept.append((trial.number, trial.stopped, trial.attempts, trial.validations is not None))

    monkeypatch.setattr(ResultStore, "add_trial", add_trial)
    config = (
        "config: {trials_per_task: 2, timeout_seconds: 20, executor: command, adapter: adapter.json, "
        "max_attempts: 2}\n"
    )
    never = "- {type: text, name: never, config: {contains: [never]}}\n"
    path = write_suite(tmp_path, {"a": task("a")}, config=config, graders=never)
    write_agent(tmp_path, SAYS)
    run(path)
    # The first attempt was judged, so its verdict stands until the second one is judged as well.
    of_trial = [(True, 1, False), (False, 1, True)]
    assert kept[:2] == [(1, *found) for found in of_trial]
    assert kept[-2:] == [(2, *found) for found in of_trial]
    # The first trial when it has ended; the last one is kept with its task.
    assert kept[2:-2] == [(1, False, 2, True)]


def test_an_answer_that_costs_nothing_is_not_written_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def add_trial(_: ResultStore, name: str, trial: TrialOutcome, *, baseline: bool) -> None:
        pytest.fail(f"{name} {trial} {baseline}")

    monkeypatch.setattr(ResultStore, "add_trial", add_trial)
    run(write_suite(tmp_path, {"a": task("a")}, graders="- {type: text, name: x, config: {contains: [x]}}\n"))


def test_the_answer_of_a_killed_run_is_kept_without_a_verdict(tmp_path: Path) -> None:
    store = dead_run(tmp_path, [], {"a": "A", "b": "B"}, of_trials=2)
    graded = TrialOutcome(1, "passed", {"g": Validation("g", "text", 1.0, True, "")}, output="the answer")
    _append(store, lambda writing: writing.add_trial("a", CUT), lambda writing: writing.add_trial("b", CUT))
    _append(store, lambda writing: writing.add_trial("b", graded))
    told = engine("report", store.journal_path).stdout
    assert "interrupted: 1 of 2 tasks passed, 1 lost" in told
    assert "the run was interrupted; what was finished is kept; no trial was finished" in told
    assert "the run was interrupted; what was finished is kept; 1 of 2 trials ran" in told
    assert "the answer" in recorded_page(store.journal_path, "a")["markdown"]
    recover_journals(tmp_path)
    recovered = json.loads(store.path.read_text("utf-8"))
    assert [[run["status"] for run in task["runs"]] for task in recovered["tasks"]] == [
        ["skipped"],
        ["passed"],
    ]


@pytest.mark.parametrize("tasks", [["a"], []])
def test_the_trigger_prompts_of_a_killed_run_are_kept_and_are_no_verdict_of_all(
    tmp_path: Path, tasks: list[str]
) -> None:
    done = [TaskOutcome(name, name, "passed") for name in tasks]
    store = dead_run(tmp_path, done, {name: name for name in tasks})
    _append(store, lambda writing: writing.add_trigger(TRIED))
    told = engine("report", store.journal_path).stdout
    assert "the run ended after 1 trigger prompt: there is no verdict of all of them" in told
    recover_journals(tmp_path)
    recovered = json.loads(store.path.read_text("utf-8"))
    assert [found["prompt"] for found in recovered["trigger_results"]] == ["one"]
    assert "trigger_metrics" not in recovered


def test_trigger_prompts_are_kept_as_they_are_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[str] = []

    def add_trigger(_: ResultStore, trigger: TriggerOutcome) -> None:
        kept.append(trigger.prompt)

    monkeypatch.setattr(ResultStore, "add_trigger", add_trigger)
    path = write_suite(tmp_path, {"a": task("a")})
    (tmp_path / "trigger_tests.yaml").write_text(TRIGGERS, "utf-8")
    run(path)
    assert sorted(kept) == ["one", "two"]


def test_a_journal_says_what_kept_it_from_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = ResultStore(tmp_path, header(), {"a": "A", "b": "B"})
    store.open()
    store.add(TaskOutcome("a", "A", "passed", [replace(CUT, status="passed", stopped=False)]))
    before = store.journal_path.stat().st_size

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        with pytest.raises(ResultsError):
            store.add_trigger(TRIED)
    # A full disk takes no more: the room for the reason was there.
    assert lines_of(store)[1]["broke"].endswith(f"{os.strerror(errno.ENOSPC)}.")
    assert len(store.journal_path.read_bytes().splitlines()[1]) < before
    # The process lives, and the run does not go on.
    assert recorded_page(store.journal_path, None)["goes_on"] is False
    told = engine("report", store.journal_path).stdout
    assert f"{store.journal_path}: {os.strerror(errno.ENOSPC)}." in told.replace("\n", "")
    assert "not run to its end: 1 of 2 tasks passed, 1 not run" in told
    assert "nothing is known of it: nothing more could be kept" in told
    recover_journals(tmp_path)
    recovered = json.loads(store.path.read_text("utf-8"))
    assert recovered["metadata"]["engine"]["status"] == "error"
    assert "broke" not in recovered


def test_the_reason_of_a_long_path_fits_the_room_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = ResultStore(tmp_path, header(), {"a": "A"})
    store.open()
    store.add(TaskOutcome("a", "A", "skipped"))

    def fails(*_: object, **__: object) -> None:
        raise ResultsError('"\u0007ü' * 2_000)

    monkeypatch.setattr("waza_engine.results.writing.store.write_atomically", fails)
    with pytest.raises(ResultsError):
        store.finish(None)  # type: ignore[arg-type]
    _, reserved, kept = lines_of(store)
    assert reserved["broke"].startswith('"')
    assert kept["task"]["test_id"] == "a"


def _append(store: ResultStore, *added: Callable[[ResultStore], None]) -> None:
    """Write lines as another store does behind those of a store."""
    writing = ResultStore(store.journal_path.parents[2] / "writing", header())
    writing.open()
    for add in added:
        add(writing)
    with store.journal_path.open("ab") as journal:
        journal.writelines(writing.journal_path.read_bytes().splitlines(keepends=True)[2:])
    writing.journal_path.unlink()


def test_an_answer_of_a_turn_that_had_no_end_is_shown_and_reported(tmp_path: Path) -> None:
    store = dead_run(tmp_path, [], {"a": "A", "b": "B"})
    said = ArrivedAnswer(
        "agent", "the answer", usage=Usage(input_tokens=7), cost=Cost(0.5), task="a", trial=1
    )
    judged = replace(said, by="judge", text="the doubt")
    _append(store, lambda writing: writing.add_answer(said), lambda writing: writing.add_answer(judged))
    told = engine("report", store.journal_path).stdout
    assert "interrupted" in told
    assert "$1.00" in told
    page = recorded_page(store.journal_path, "a")["markdown"]
    assert "the answer" in page
    assert "the doubt" in page
