import json
import os
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from tests.engine.suites import (
    GREETS,
    HANGS,
    config_with,
    noting_hooks,
    only_task,
    only_trial,
    run,
    task,
    verdicts,
    write_suite,
)
from tests.patience import ON_A_BUSY_MACHINE
from waza_engine.commands.preflight import preflight
from waza_engine.results.conclusion import conclude
from waza_engine.results.reading.newest_scores import latest_results
from waza_engine.runs.events.stream import RunEvent
from waza_engine.runs.limits.cancellation import RunCancellation, all_at_once, call_bounded
from waza_engine.runs.loading.suite_on_disk import SuiteError
from waza_engine.runs.preparing import prepare
from waza_engine.runs.settings.table import RunSettings
from waza_engine.spec.problems import SuiteFileError

FAILS = "- {type: text, name: fails, config: {contains: [goodbye]}}\n"


def test_the_id_of_a_task_does_not_stand_in_for_its_name_in_the_answer(tmp_path: Path) -> None:
    report, _ = run(write_suite(tmp_path, {"a": "id: a\ninputs: {prompt: Say hello}\n"}))
    assert only_trial(report).output == "Mock response for: Say hello"


def test_the_graders_of_the_suite_come_before_those_of_the_task(tmp_path: Path) -> None:
    report, _ = run(write_suite(tmp_path, {"a": task("a", f"graders:\n{FAILS}")}, graders=GREETS))
    assert [(name, found.passed) for name, found in verdicts(report).items()] == [
        ("greets", True),
        ("fails", False),
    ]
    assert only_task(report).status == "failed"
    assert report.outcome.summary.aggregate_score == 0.5


def test_a_broken_grader_spoils_nothing_but_its_own_score(tmp_path: Path) -> None:
    broken = "- {type: file, name: broken, config: {}}\n- {type: nonsense, name: unknown}\n"
    report, _ = run(write_suite(tmp_path, {"a": task("a")}, graders=GREETS + broken))
    found = verdicts(report)
    assert (found["greets"].status, found["greets"].score) == ("graded", 1.0)
    assert (found["broken"].status, found["broken"].score) == ("error", 0.0)
    assert "nonsense" in found["unknown"].feedback
    assert only_task(report).status == "error"
    assert report.outcome.summary.errors == 1


def test_a_review_to_come_is_pending_and_decides_nothing(tmp_path: Path) -> None:
    report, events = run(
        write_suite(tmp_path, {"a": task("a")}, graders=GREETS + "- {type: human, name: review}\n")
    )
    assert verdicts(report)["review"].status == "pending"
    assert only_task(report).status == "passed"
    assert report.outcome.summary.aggregate_score == 1.0
    said = [(event.status, event.score) for event in events if event.grader == "review"]
    assert said == [("pending", None)]


def test_a_task_with_nothing_but_reviews_is_told_as_pending(tmp_path: Path) -> None:
    report, events = run(write_suite(tmp_path, {"a": task("a")}, graders="- {type: human, name: review}\n"))
    assert only_task(report).status == "skipped"
    assert [event.kind for event in events if event.task == "a"][-1] == "pending"
    assert [event.score for event in events if event.kind in ("pending", "ended")] == [None, None, None]
    assert report.outcome.status == "completed"


def test_a_broken_task_file_is_an_error_of_that_task_alone(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": "id: a\ninputs: [", "b": task("b")}, graders=GREETS)
    report, _ = run(path)
    assert [(found.id, found.status) for found in report.outcome.tasks] == [("a", "error"), ("b", "passed")]
    assert str(tmp_path / "tasks" / "a.yaml") in report.outcome.tasks[0].error


def test_graders_without_a_name_are_called_by_their_type(tmp_path: Path) -> None:
    unnamed = "- {type: text, config: {contains: [hello]}}\n- {type: text, config: {contains: [nope]}}\n"
    report, _ = run(write_suite(tmp_path, {"a": task("a")}, graders=unnamed))
    assert {name: found.passed for name, found in verdicts(report).items()} == {"text": True, "text-2": False}


def test_of_two_graders_with_one_name_the_later_counts_and_a_warning_says_so(tmp_path: Path) -> None:
    same = "graders:\n- {type: text, name: greets, config: {contains: [nope]}}\n"
    report, events = run(write_suite(tmp_path, {"a": task("a", same)}, graders=GREETS))
    assert {name: found.passed for name, found in verdicts(report).items()} == {"greets": False}
    assert any("only the later one counts" in (event.message or "") for event in events)


def test_expectations_of_the_answer_are_graded_too(tmp_path: Path) -> None:
    lists = "output_contains: [HELLO, world], output_not_contains: [mock], output_contains_any: [x, task]"
    report, _ = run(write_suite(tmp_path, {"a": task("a", f"expected: {{{lists}}}")}))
    assert {name: (v.score, v.passed) for name, v in verdicts(report).items()} == {
        "_output_contains": (0.5, False),
        "_output_not_contains": (0.0, False),
        "_output_contains_any": (1.0, True),
    }


def test_every_trial_is_run_and_counted(tmp_path: Path) -> None:
    report, events = run(write_suite(tmp_path, {"a": task("a")}, graders=GREETS), trials=3)
    assert [trial.number for trial in only_task(report).trials] == [1, 2, 3]
    assert [event.completed for event in events if event.kind == "passed" and event.trial] == [1, 2, 3]


def test_a_failed_trial_is_tried_again_and_a_broken_one_is_not(tmp_path: Path) -> None:
    broken = "graders:\n- {type: nonsense, name: unknown}\n"
    tasks = {"a": task("a", f"graders:\n{FAILS}"), "b": task("b", broken), "c": task("c")}
    report, _ = run(write_suite(tmp_path, tasks, config=config_with("max_attempts: 3")))
    assert [found.trials[0].attempts for found in report.outcome.tasks] == [3, 1, 1]


def test_fail_fast_skips_what_has_not_started(tmp_path: Path) -> None:
    tasks = {"a": task("a", f"graders:\n{GREETS}"), "b": task("b", f"graders:\n{FAILS}"), "c": task("c")}
    report, events = run(write_suite(tmp_path, tasks, config=config_with("fail_fast: true")))
    assert [found.status for found in report.outcome.tasks] == ["passed", "failed", "skipped"]
    assert [(event.task, event.message) for event in events if event.kind == "skipped"] == [
        ("c", "`fail_fast`: a task before it did not pass")
    ]


def test_tasks_run_at_the_same_time_and_are_reported_in_their_order(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    meets = (
        "import os, time\n"
        f"there, limit = {str(tmp_path / 'there')!r}, time.monotonic() + 60\n"
        "open(os.path.join(there, str(os.getpid())), 'w').close()\n"
        "while len(os.listdir(there)) < 4 and time.monotonic() < limit: time.sleep(0.01)\n"
        "raise SystemExit(len(os.listdir(there)) != 4)"
    )
    grader = json.dumps(
        [{"type": "program", "name": "meets", "config": {"command": "python3", "args": ["-c", meets]}}]
    )
    tasks = {name: task(name, f"graders: {grader}\n") for name in "abcd"}
    report, _ = run(write_suite(tmp_path, tasks, config=config_with("parallel: true, workers: 4")))
    assert {found.status for found in report.outcome.tasks} == {"passed"}
    assert [found.id for found in report.outcome.tasks] == ["a", "b", "c", "d"]


def test_follow_ups_continue_the_session_and_the_last_answer_counts(tmp_path: Path) -> None:
    text = "id: a\nname: A\ninputs: {prompt: First, follow_up_prompts: [Second, Third]}\n"
    trial = only_trial(run(write_suite(tmp_path, {"a": text}))[0])
    assert trial.output.startswith("Mock response for: Third")
    assert trial.session == "mock-session-1"


def test_a_checkpoint_that_stops_ends_the_conversation_with_an_error(tmp_path: Path) -> None:
    text = """\
        id: a
        inputs: {prompt: First, follow_up_prompts: [Second]}
        checkpoints:
          - after_turn: 1
            on_failure: stop
            graders: [{type: text, name: greets, config: {contains: [hello]}}]
    """
    trial = only_trial(run(write_suite(tmp_path, {"a": text}))[0])
    assert trial.status == "error"
    assert trial.output.startswith("Mock response for: First")
    assert [(c.after_turn, c.status, c.stopped) for c in trial.checkpoints] == [(1, "failed", True)]


def test_only_the_asked_tasks_run(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {name: task(name) for name in ("one", "two", "three")})
    assert [found.id for found in run(path, tasks=["t*"])[0].outcome.tasks] == ["three", "two"]
    assert [found.id for found in run(path, tasks=["Task one"])[0].outcome.tasks] == ["one"]
    with pytest.raises(SuiteError, match="four"):
        run(path, tasks=["four"])


def test_only_the_asked_graders_run(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a", "expected: {output_contains: [x]}")}, graders=GREETS + FAILS)
    assert list(verdicts(run(path, graders=["greets"])[0])) == ["greets"]
    assert list(verdicts(run(path, graders=["_output_contains"])[0])) == ["_output_contains"]
    with pytest.raises(SuiteError, match="greets"):
        run(path, graders=["greet"])


def test_hooks_run_around_the_suite_and_its_tasks(tmp_path: Path) -> None:
    hooks = noting_hooks(tmp_path, "before_run", "after_run", "before_task", "after_task")
    run(write_suite(tmp_path, {"a": task("a")}, more=hooks))
    assert (tmp_path / "log").read_text().split() == ["before_run", "before_task", "after_task", "after_run"]


def test_a_hook_that_must_not_fail_ends_the_run_or_the_task(tmp_path: Path) -> None:
    hook = "[{command: python3 -c exit(3), error_on_fail: true}]"
    report, events = run(write_suite(tmp_path, {"a": task("a")}, more=f"hooks: {{before_run: {hook}}}\n"))
    assert (report.outcome.status, only_task(report).status) == ("error", "skipped")
    assert conclude(report.outcome).counts.not_run == 1
    assert "exited with 3" in (events[-1].message or "")
    report, events = run(write_suite(tmp_path, {"a": task("a")}, more=f"hooks: {{before_task: {hook}}}\n"))
    assert (only_task(report).status, list(only_task(report).trials)) == ("failed", [])
    assert "errored" in [event.kind for event in events if event.task == "a"]


@pytest.mark.skipif(sys.platform == "win32", reason="programs are not ended by signals there")
def test_a_hook_that_a_signal_ended_is_told_by_its_name(tmp_path: Path) -> None:
    kill = "python3 -c __import__('os').kill(__import__('os').getpid(),9)"
    hooks = f'hooks: {{before_run: [{{command: "{kill}", error_on_fail: true}}]}}\n'
    report, _ = run(write_suite(tmp_path, {"a": task("a")}, more=hooks))
    assert "was ended by the signal SIGKILL" in report.outcome.message


@pytest.mark.parametrize(
    "broken", ["skil: writer\n", "skill: writer\nshould_trigger_prompts: ['']\n", "a: ["]
)
def test_a_broken_trigger_file_ends_a_run_before_its_first_hook_and_trial(
    tmp_path: Path, broken: str
) -> None:
    path = write_suite(tmp_path, {"a": task("a")}, more=noting_hooks(tmp_path, "before_run"))
    (tmp_path / "trigger_tests.yaml").write_text(broken)
    with pytest.raises(SuiteFileError, match=r"trigger_tests\.yaml"):
        run(path)
    assert not (tmp_path / "log").exists()
    assert not preflight(RunSettings(path)).complete
    # A run of tasks tries no prompts.
    assert only_task(run(path, tasks=("a",))[0]).status == "passed"


def test_the_stream_starts_with_the_run_and_ends_with_its_end(tmp_path: Path) -> None:
    _, events = run(write_suite(tmp_path, {"a": task("a")}, graders=GREETS))
    assert [event.kind for event in events] == [
        "run_started",
        "enqueued",
        "started",
        "asking",
        "output",
        "grading",
        "graded",
        "passed",
        "passed",
        "ended",
    ]
    assert [event.sequence for event in events] == list(range(1, 11))
    assert events[-1].results_file is not None
    assert json.loads(Path(events[-1].results_file).read_text())["tasks"][0]["test_id"] == "a"


def test_cancelling_ends_everything_at_once_and_keeps_what_was_finished(tmp_path: Path) -> None:
    tasks = {"a": task("a"), "b": task("b", f"graders:\n{HANGS}"), "c": task("c")}
    cancellation, events = RunCancellation(), list[RunEvent]()

    def listen(event: RunEvent) -> None:
        events.append(event)
        if event.kind == "output" and event.task == "b":
            threading.Timer(0.5, cancellation.request).start()

    before = set(psutil.Process().children(recursive=True))
    report = prepare(RunSettings(write_suite(tmp_path, tasks))).run(listen, cancellation)
    assert report.outcome.status == "canceled"
    assert events[-1].status == "canceled"
    assert [(found.id, found.status) for found in report.outcome.tasks] == [
        ("a", "passed"),
        ("b", "skipped"),
        ("c", "skipped"),
    ]
    assert report.outcome.tasks[2].error == "the run was interrupted; no trial ran"
    assert report.outcome.tasks[1].error == "the run was interrupted; no trial was finished"
    # The answer was there already, and was perhaps paid for: it can be graded later.
    assert report.outcome.tasks[1].trials[0].output.startswith("Mock response")
    assert report.outcome.tasks[1].statistics is None
    assert report.outcome.summary.skipped == 2
    time.sleep(0.3)
    assert set(psutil.Process().children(recursive=True)) - before == set()


def test_cancelling_does_not_wait_for_a_hanging_assertion(tmp_path: Path) -> None:
    forever = """\
- type: code
  name: hangs
  config: {assertions: ["re.match('(a+)+$', 'a' * 60 + 'b')"]}
"""
    cancellation = RunCancellation()
    prepared = prepare(RunSettings(write_suite(tmp_path, {"a": task("a")}, graders=forever)))
    threading.Timer(1.0, cancellation.request).start()
    started = time.monotonic()
    assert prepared.run(lambda _: None, cancellation).outcome.status == "canceled"
    assert time.monotonic() - started < 3.0 + ON_A_BUSY_MACHINE


def test_workspaces_are_gone_afterwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", os.fspath(temporary))
    run(write_suite(tmp_path / "suite", {"a": task("a"), "b": task("b", f"graders:\n{FAILS}")}))
    assert list(temporary.iterdir()) == []


def test_paths_written_from_the_repository_root_are_found_wherever_the_run_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = tmp_path / "repository" / "evals" / "writer"
    graders = """\
        - {type: program, name: grades, config: {command: python3, args: [evals/writer/grade.py]}}
        - type: diff
          name: kept
          config: {expected_files: [{path: note.txt, snapshot: evals/writer/fixtures/note.txt}]}
    """
    text = "id: a\ninputs: {prompt: Look, files: [{path: note.txt}]}\n"
    path = write_suite(suite, {"a": text}, graders=graders)
    (suite / "fixtures").mkdir()
    (suite / "fixtures" / "note.txt").write_text("kept\n")
    (suite / "grade.py").write_text("print('well done')\n")
    for start in (tmp_path / "repository", tmp_path, suite):
        monkeypatch.chdir(start)
        assert {name: v.passed for name, v in verdicts(run(path)[0]).items()} == {
            "grades": True,
            "kept": True,
        }


def test_a_listener_that_breaks_ends_the_run_and_keeps_what_was_finished(tmp_path: Path) -> None:
    path = write_suite(tmp_path, {"a": task("a"), "b": task("b", f"graders:\n{HANGS}")})

    def listen(event: RunEvent) -> None:
        if event.task == "b":
            raise OSError("nobody listens")

    with pytest.raises(OSError, match="nobody listens"):
        prepare(RunSettings(path, workers=1)).run(listen, RunCancellation())
    found = latest_results(tmp_path)
    assert found is not None
    assert found.status == "canceled"


def test_a_call_that_would_end_the_process_is_an_error_like_any_other() -> None:
    with pytest.raises(RuntimeError, match="SystemExit"):
        call_bounded(lambda: sys.exit(1), 5, RunCancellation())


def test_one_stop_that_raises_does_not_keep_the_others() -> None:
    stopped: list[str] = []

    def broken() -> None:
        raise IndexError

    cancellation = RunCancellation()
    cancellation.on_request(lambda: stopped.append("first"))
    cancellation.on_request(broken)
    cancellation.on_request(lambda: stopped.append("last"))
    with pytest.raises(IndexError):
        cancellation.request()
    assert stopped == ["first", "last"]


def test_what_a_run_has_started_is_ended_at_the_same_time() -> None:
    met = threading.Barrier(3)
    all_at_once([lambda: met.wait(10)] * 3)
    assert not met.broken


def test_one_that_ends_badly_keeps_no_other_from_ending() -> None:
    ended: list[str] = []

    def breaks() -> None:
        raise OSError("the agent is stuck")

    with pytest.raises(OSError, match="stuck"):
        all_at_once([breaks, lambda: ended.append("judge")])
    assert ended == ["judge"]
