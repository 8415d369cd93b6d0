"""Every line that was judged says so: suite, task, expectation, metric and trigger prompt."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.server.features.hinting import Editor
from tests.server.features.results import NOW, RUN_AT, date, grade, write_results
from tests.server.project.files import put
from waza_engine.results.result_file_names import JOURNAL_SUFFIX
from waza_language_server.features.scores.stale_results import stale_results
from waza_language_server.project.active_runs import ActiveRun
from waza_language_server.project.document import DocumentKind
from waza_language_server.project.runnable_id import RunnableId

EVAL = """\
name: my-eval
skill: my-skill
config: {model: some-model}
metrics:
  - {name: task_completion, weight: 1, threshold: 0.9}
graders:
  - {type: text, name: mentions, config: {contains: [deployed]}}
tasks: [tasks/*.yaml]
"""
TASK = """\
id: first
inputs: {prompt: Do it}
expected:
  output_contains:
    - hello
    - goodbye
"""
TRIGGERS = """\
skill: my-skill
should_trigger_prompts:
  - prompt: Use it
  - prompt: Use it now
should_not_trigger_prompts:
  - prompt: Leave it
  - prompt: A new one
"""
EXPECTED = grade(
    "_output_contains",
    0.5,
    "the answer does not contain `goodbye`",
    [(["output_contains", 0], True, ""), (["output_contains", 1], False, "no `goodbye`")],
) | {"type": "expected"}


def engine(status: str, **more: Any) -> dict[str, Any]:
    return {"metadata": {"engine": {"eval_file": "eval.yaml", "status": status}}, **more}


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    put(tmp_path, "tasks/first.yaml", TASK)
    put(tmp_path, "tasks/second.yaml", "id: second\ninputs: {prompt: Do it}\n")
    put(tmp_path, "trigger_tests.yaml", TRIGGERS)
    return put(tmp_path, "eval.yaml", EVAL)


def test_a_suite_tells_its_tasks_and_metrics(suite: Path) -> None:
    missed = {"identifier": "task_completion", "value": 0.5, "threshold": 0.9, "passed": False}
    tasks = {"first": [[EXPECTED]], "second": [[grade("mentions", 1.0)]]}
    write_results(suite, tasks, more=engine("failed", metrics={"task_completion": missed}))
    assert (
        Editor().drawn(suite, "eval")
        == """\
name: my-eval  ‹✗ 1 of 2 tasks›
⋯
  - {name: task_completion, weight: 1, threshold: 0.9}  ‹✗ 0.50 < 0.90›
⋯
  - {type: text, name: mentions, config: {contains: [deployed]}}  ‹✓ 1.00›
"""
    )


def test_a_task_tells_its_verdict_and_each_expectation(suite: Path) -> None:
    write_results(suite, {"first": [[EXPECTED, grade("mentions", 0.0, "not deployed")]]})
    path = suite.parent / "tasks/first.yaml"
    assert (
        Editor().drawn(path, "task")
        == """\
id: first  ‹✗ 0.25›  ‹✗ mentions (suite)›
⋯
    - hello  ‹✓›
    - goodbye  ‹✗›
"""
    )
    told = Editor().hints(path, "task")[0].tooltip
    assert "✗ `mentions` 0.00: `not deployed`" in told
    assert "✗ `expected.output_contains` 0.50" in told


def test_a_task_file_tells_what_the_graders_of_its_suite_said_of_it(suite: Path) -> None:
    path = suite.parent / "tasks/second.yaml"
    write_results(suite, {"second": [[grade("mentions", 0.0, "not deployed"), grade("own", 1.0)]]})
    editor = Editor()
    _, mark = editor.hints(path, "task")
    assert mark.label == "✗ mentions (suite)"
    assert "✗ `mentions` 0.00: `not deployed`" in mark.tooltip
    assert "own" not in mark.tooltip
    put(suite.parent, "eval.yaml", EVAL.replace("deployed", "released"))
    assert editor.hints(path, "task")[1].label == "✗ mentions (suite) · stale"


def test_a_task_of_two_suites_says_in_which_it_came_to_what(suite: Path) -> None:
    path = suite.parent / "tasks/first.yaml"
    own = "graders:\n  - {type: text, name: own, config: {contains: [hello]}}\n"
    put(suite.parent, "tasks/first.yaml", TASK + own)
    write_results(suite, {"first": [[grade("own", 1.0)]]})
    other = put(suite.parent, "other/eval.yaml", "name: other\nskill: my-skill\ntasks: ['../tasks/*.yaml']\n")
    write_results(other, {"first": [[grade("own", 0.0, "no hello")]]}, at=RUN_AT + timedelta(minutes=1))
    editor = Editor()
    editor.hints(other, "eval")
    mark, *_, grader = editor.hints(path, "task")
    assert mark.label == "✗ 0.00 in other"
    assert "in `other/eval.yaml`." in mark.tooltip
    assert f"✓ 1.00 5 minutes ago in `{suite.parent.name}/eval.yaml`." in mark.tooltip
    assert "in `other/eval.yaml`." in grader.tooltip


def test_a_grader_of_the_task_that_replaces_one_of_the_suite_is_not_told_twice(suite: Path) -> None:
    own = "id: second\ninputs: {prompt: Do it}\ngraders:\n  - {type: text, name: mentions}\n"
    put(suite.parent, "tasks/second.yaml", own)
    write_results(suite, {"second": [[grade("mentions", 1.0)]]})
    assert (
        Editor().drawn(suite.parent / "tasks/second.yaml", "task")
        == """\
id: second  ‹✓ 1.00›
⋯
  - {type: text, name: mentions}  ‹✓ 1.00›
"""
    )


def test_expectations_of_a_task_that_has_changed_are_stale(suite: Path) -> None:
    write_results(suite, {"first": [[EXPECTED]]}, model="some-model")
    editor, task = Editor(), suite.parent / "tasks/first.yaml"
    assert [hint.stale for hint in editor.hints(task, "task") if hint.kind == "check"] == [False, False]
    changed = editor.hints(task, "task", TASK.replace("Do it", "Do more"))
    assert [hint.stale for hint in changed if hint.kind == "check"] == [True, True]


def test_a_rule_that_is_a_list_as_a_whole_has_its_mark_at_its_key(suite: Path) -> None:
    text = "id: first\nexpected:\n  output_contains_any:\n    - hello\n    - goodbye\n"
    path = put(suite.parent, "tasks/first.yaml", text)
    said = grade("_output_contains_any", 1.0, "", [(["output_contains_any"], True, "")])
    write_results(suite, {"first": [[said]]})
    assert (
        Editor().drawn(path, "task")
        == """\
id: first  ‹✓ 1.00›
⋯
  output_contains_any:  ‹✓›
"""
    )
    inline = put(suite.parent, "tasks/first.yaml", text.replace(":\n    - hello\n    - goodbye", ": [hello]"))
    write_results(suite, {"first": [[said]]})
    assert "  output_contains_any: [hello]  ‹✓›" in Editor().drawn(inline, "task")


def test_an_expectation_that_was_rewritten_loses_its_mark(suite: Path) -> None:
    write_results(suite, {"first": [[EXPECTED]]})
    path = suite.parent / "tasks/first.yaml"
    editor = Editor()
    editor.hints(path, "task")
    assert (
        editor.drawn(path, "task", TASK.replace("goodbye", "good day"))
        == """\
id: first  ‹✗ 0.50 · stale›
⋯
    - hello  ‹✓›
"""
    )


def test_a_task_that_ended_in_an_error_shows_it_and_no_older_scores(suite: Path) -> None:
    write_results(suite, {"second": [[grade("mentions", 1.0)]]}, more=engine("completed"))
    at = RUN_AT + timedelta(minutes=1)
    path = write_results(suite, {"second": [[]]}, at=at, more=engine("failed"))
    document = json.loads(path.read_text())
    document["tasks"][0] |= {"status": "error", "error_msg": "not logged in to GitHub", "runs": []}
    path.write_text(json.dumps(document))
    date(path, at)
    (mark,) = Editor().hints(suite.parent / "tasks/second.yaml", "task")
    assert mark.label == "! not logged in to GitHub"
    assert "not logged in to GitHub" in mark.tooltip
    assert [hint.label for hint in Editor().hints(suite, "eval")] == ["! 0/1 task: not logged in to GitHub"]


def test_a_verdict_is_stale_when_one_of_its_graders_was_run_again_by_itself(suite: Path) -> None:
    write_results(suite, {"second": [[grade("mentions", 0.0), grade("other", 1.0)]]}, more=engine("failed"))
    chosen = engine("completed")
    chosen["metadata"]["engine"]["graders"] = ["mentions"]
    later = RUN_AT + timedelta(minutes=1)
    write_results(suite, {"second": [[grade("mentions", 1.0)]]}, at=later, more=chosen)
    mark, of_suite = Editor().hints(suite.parent / "tasks/second.yaml", "task")
    assert of_suite.label == "✓ 1 of the suite"
    assert mark.label == "✗ 0.50 · stale"
    assert "a grader of it was run again since" in mark.tooltip


def a_part(*tasks: str) -> dict[str, Any]:
    chosen = engine("completed")
    chosen["metadata"]["engine"]["tasks"] = list(tasks)
    return chosen


def test_a_suite_of_which_a_part_was_run_again_comes_to_what_its_tasks_came_to_last(suite: Path) -> None:
    missed = {"identifier": "task_completion", "value": 0.0, "threshold": 0.9, "passed": False}
    tasks = {"first": [[EXPECTED]], "second": [[EXPECTED]]}
    write_results(suite, tasks, more=engine("failed", metrics={"task_completion": missed}))
    editor = Editor()
    assert editor.hints(suite, "eval")[0].label == "✗ 2 of 2 tasks"
    for minutes, task in enumerate(("second", "first"), 1):
        later = RUN_AT + timedelta(minutes=minutes)
        write_results(suite, {task: [[grade("mentions", 1.0)]]}, at=later, more=a_part(task))
    of_suite, of_metric, _ = Editor().hints(suite, "eval")
    assert of_suite.label == "✓ 2/2 tasks"
    assert "Merged from several runs, the last one recorded" in of_suite.tooltip
    assert of_metric.label == "✗ 0.00 < 0.90 · stale"
    assert of_metric.tooltip.startswith("**`task_completion`** 0.00, threshold 0.90")
    assert "a part of it was run again since" in of_metric.tooltip


def test_a_part_that_fails_where_the_whole_had_passed_makes_the_suite_fail(suite: Path) -> None:
    tasks = {"first": [[grade("mentions", 1.0)]], "second": [[grade("mentions", 1.0)]]}
    write_results(suite, tasks, more=engine("completed"))
    later = RUN_AT + timedelta(minutes=1)
    write_results(suite, {"second": [[grade("mentions", 0.0)]]}, at=later, more=a_part("second"))
    assert Editor().hints(suite, "eval")[0].label == "✗ 1 of 2 tasks"


def test_a_suite_that_is_told_in_parts_is_as_stale_as_the_first_of_them(suite: Path) -> None:
    write_results(suite, {"first": [[EXPECTED]], "second": [[EXPECTED]]}, more=engine("failed"))
    later = RUN_AT + timedelta(minutes=1)
    write_results(suite, {"second": [[grade("mentions", 1.0)]]}, at=later, more=a_part("second"))
    editor = Editor()
    assert editor.hints(suite, "eval")[0].label == "✗ 1 of 2 tasks"
    first = suite.parent / "tasks/first.yaml"
    editor.hints(first, "task", TASK.replace("Do it", "Do it now"))
    mark = editor.hints(suite, "eval")[0]
    assert mark.label == "✗ 1 of 2 tasks · stale"
    assert "a task of it was changed after the run" in mark.tooltip
    editor.hints(first, "task", TASK)
    assert editor.hints(suite, "eval")[0].label == "✗ 1 of 2 tasks"


def test_what_a_cancelled_run_did_not_come_to_is_told_to_be_of_an_older_one(suite: Path) -> None:
    second = suite.parent / "tasks/second.yaml"
    write_results(suite, {"second": [[grade("mentions", 0.0)]]}, more=engine("failed"))
    at = RUN_AT + timedelta(minutes=1)
    path = write_results(suite, {"second": [[]]}, at=at, more=engine("canceled"))
    document = json.loads(path.read_text())
    document["tasks"][0] |= {"status": "skipped", "error_msg": "the run was interrupted", "runs": []}
    path.write_text(json.dumps(document))
    date(path, at)
    editor = Editor()
    mark, of_suite = editor.hints(second, "task")
    assert (mark.label, of_suite.label) == ("✗ 0.00 · stale", "✗ mentions (suite) · stale")
    assert "stale: a later run ended before it reached this task" in mark.tooltip
    whole, *graders = [hint for hint in editor.hints(suite, "eval") if hint.kind in ("verdict", "score")]
    assert "stale: a later run was ended before it was done" in whole.tooltip
    assert [hint.label for hint in graders] == ["✗ 0.00 · stale"]


def test_what_is_older_than_a_record_that_cannot_be_read_says_so(suite: Path) -> None:
    write_results(suite, {"second": [[grade("mentions", 1.0)]]}, more=engine("completed"))
    at = RUN_AT + timedelta(minutes=1)
    path = write_results(suite, {"second": [[grade("mentions", 0.0)]]}, at=at, more=engine("failed"))
    path.write_text(path.read_text("utf-8")[:-100], "utf-8")
    date(path, at)
    editor = Editor()
    of_task, of_grader = editor.hints(suite.parent / "tasks/second.yaml", "task")
    assert (of_task.label, of_grader.label) == ("✓ 1.00 · stale", "✓ 1 of the suite · stale")
    whole, *graders = [hint for hint in editor.hints(suite, "eval") if hint.kind in ("verdict", "score")]
    assert [hint.label for hint in graders] == ["✓ 1.00 · stale"]
    for hint in (of_task, of_grader, whole, *graders):
        assert f"stale: the record of a later run, `{path.name}`, cannot be read" in hint.tooltip


@pytest.mark.parametrize("cut", [-100, 40])
def test_a_suite_of_which_no_record_can_be_read_says_so(suite: Path, cut: int) -> None:
    path = write_results(suite, {"second": [[grade("mentions", 1.0)]]}, more=engine("completed"))
    path.write_text(path.read_text("utf-8")[:cut], "utf-8")
    editor = Editor()
    (whole,) = editor.hints(suite, "eval")
    assert whole.label == f"! its results cannot be read: {path.name} is…"
    assert f"{path.name} is cut off: it ends in line 1, in the middle of a value" in whole.tooltip
    assert whole.tooltip.endswith("Recorded 5 minutes ago.")
    assert not editor.hints(suite.parent / "tasks/second.yaml", "task")


def test_what_is_older_than_a_record_without_any_beginning_says_so(suite: Path) -> None:
    write_results(suite, {"second": [[grade("mentions", 1.0)]]}, more=engine("completed"))
    editor = Editor()
    at = RUN_AT + timedelta(minutes=1)
    path = write_results(suite, {"second": [[grade("mentions", 0.0)]]}, at=at, more=engine("failed"))
    path.write_bytes(b"")
    whole, grader = editor.hints(suite, "eval")
    assert (whole.label, grader.label) == ("✓ 1/1 task · stale", "✓ 1.00 · stale")
    assert f"stale: the record of a later run, `{path.name}`, cannot be read" in whole.tooltip


def test_a_task_whose_trials_differ_says_how_new_ones_would_end(suite: Path) -> None:
    trials = [[grade("mentions", score)] for score in (1.0, 0.0, 1.0)]
    write_results(suite, {"second": trials}, more=engine("failed"))
    of_task, _ = Editor().hints(suite.parent / "tasks/second.yaml", "task")
    assert of_task.label == "◐ 2/3 trials · pass@3 0.96 · pass^3 0.30"
    assert "2 of 3 trials passed: pass@3 0.96 (0.50–0.99), pass^3 0.30 (0.01–0.83)" in of_task.tooltip


def test_a_task_with_one_trial_has_no_estimates(suite: Path) -> None:
    write_results(suite, {"second": [[grade("mentions", 1.0)]]}, more=engine("completed"))
    of_task, _ = Editor().hints(suite.parent / "tasks/second.yaml", "task")
    assert (of_task.label, "pass@" in of_task.tooltip) == ("✓ 1.00", False)


def test_a_task_of_which_not_all_trials_ran_passed_so_far(suite: Path) -> None:
    path = write_results(suite, {"second": [[grade("mentions", 1.0)]]}, more=engine("canceled"))
    document = json.loads(path.read_text("utf-8"))
    document["tasks"][0]["error_msg"] = "the run was cancelled; 1 of 3 trials ran"
    path.write_text(json.dumps(document), "utf-8")
    date(path, RUN_AT)
    of_task, _ = Editor().hints(suite.parent / "tasks/second.yaml", "task")
    assert of_task.label == "✓ 1.00 so far"
    assert "1 of 3 trials ran" in of_task.tooltip


def test_each_trigger_prompt_says_whether_the_skill_was_used_as_it_should(suite: Path) -> None:
    def tried(prompt: str, should: bool, did: bool, **more: str) -> dict[str, Any]:
        return {"prompt": prompt, "should_trigger": should, "did_trigger": did, **more}

    results = [
        tried("Use it", True, False),
        tried("Use it now", True, False, error_msg="no answer in 60 s"),
        tried("Leave it", False, False),
    ]
    write_results(suite, {"first": [[EXPECTED]]}, more=engine("failed", trigger_results=results))
    assert (
        Editor().drawn(suite.parent / "trigger_tests.yaml", "trigger_tests")
        == """\
⋯
  - prompt: Use it  ‹✗ not triggered›
  - prompt: Use it now  ‹! no answer in 60 s›
⋯
  - prompt: Leave it  ‹✓›
"""
    )


def test_a_trigger_prompt_names_who_answered_and_is_stale_when_another_one_would_today(suite: Path) -> None:
    tried = {"prompt": "Use it", "should_trigger": True, "did_trigger": True, "skills": ["other", "mine"]}
    write_results(
        suite, {"first": [[EXPECTED]]}, model="other-model", more=engine("failed", trigger_results=[tried])
    )
    (mark,) = Editor().hints(suite.parent / "trigger_tests.yaml", "trigger_tests")
    assert mark.tooltip.startswith("Invoked: `other`, `mine`.\n\n")
    assert mark.label == "✓ · stale"
    assert "(`copilot-sdk` · `other-model`)" in mark.tooltip
    assert "it was recorded with the model `other-model`" in mark.tooltip


def test_a_suite_of_which_something_broke_and_nothing_was_wrong_is_in_error(suite: Path) -> None:
    put(suite.parent, "trigger_tests.yaml", "should_trigger_prompts: [Use it now]\n")
    untried = {"prompt": "Use it now", "should_trigger": True, "did_trigger": False, "error_msg": "no answer"}
    ended = engine("failed", trigger_results=[untried])
    ended["metadata"]["engine"]["conclusion"] = {"verdict": "errored", "reasons": ["1 of 1 trigger prompt"]}
    write_results(suite, {"second": [[grade("mentions", 1.0)]]}, more=ended)
    mark = Editor().hints(suite, "eval")[0]
    assert mark.label == "! 1/1 task: no answer"
    assert "- `Use it now` ! `no answer`" in mark.tooltip


@pytest.mark.parametrize(
    ("target", "limits", "waiting"),
    [
        ({}, {}, {"suite", "first", "second", "Use it"}),
        ({}, {"tasks": frozenset({"second"})}, {"second"}),
        ({}, {"tasks": frozenset[str](), "prompts": frozenset({"Use it"})}, {"Use it"}),
        ({"task": "first"}, {}, {"first"}),
        ({"task": "first", "grader": "mentions"}, {}, set[str]()),
        ({"prompt": "Use it", "should_trigger": True}, {}, {"Use it"}),
        ({"prompt": "Use it", "should_trigger": False}, {}, set[str]()),
    ],
)
def test_what_runs_again_and_is_not_judged_yet_says_so(
    suite: Path, target: dict[str, Any], limits: dict[str, frozenset[str]], waiting: set[str]
) -> None:
    put(suite.parent, "trigger_tests.yaml", "should_trigger_prompts: [Use it]\n")
    tried = {"prompt": "Use it", "should_trigger": True, "did_trigger": True}
    more = engine("completed", trigger_results=[tried])
    write_results(suite, {"first": [[EXPECTED]], "second": [[grade("mentions", 1.0)]]}, more=more)
    editor, key = Editor(), object()
    files: dict[str, tuple[Path, DocumentKind]] = {"suite": (suite, "eval")}
    files |= {"Use it": (suite.parent / "trigger_tests.yaml", "trigger_tests")}
    files |= {name: (suite.parent / f"tasks/{name}.yaml", "task") for name in ("first", "second")}

    def found() -> set[str]:
        firsts = {name: editor.hints(path, kind)[0] for name, (path, kind) in files.items()}
        return {name for name, hint in firsts.items() if hint.label.endswith(" · stale: runs again")}

    active_runs = editor.workspace.project.scores.active_runs
    assert found() == set()
    active_runs.begin(key, ActiveRun(RunnableId(suite, **target), RUN_AT + timedelta(minutes=1), **limits))
    assert found() == waiting
    active_runs.end(key)
    assert found() == set()
    active_runs.begin(key, ActiveRun(RunnableId(suite, **target), RUN_AT, **limits))
    assert found() == set()


def test_a_task_that_runs_says_what_goes_on_in_it_and_what_waits_says_that(suite: Path) -> None:
    editor, key = Editor(), object()
    active_runs = editor.workspace.project.scores.active_runs
    path = suite.parent / "tasks/second.yaml"

    def told() -> list[str]:
        return [hint.label for hint in editor.hints(path, "task") if hint.kind == "verdict"]

    def at(kind: str, **more: Any) -> bool:
        event = {"kind": kind, "task": "second", "trial": 1, **more}
        return active_runs.note(key, event, NOW - timedelta(seconds=34))

    active_runs.begin(key, ActiveRun(RunnableId(suite), RUN_AT))
    assert [hint.label for hint in editor.hints(suite, "eval")] == ["⟳ running"]
    assert told() == []
    assert at("asking")
    assert told() == ["⟳ running · prompt sent"]
    (hint,) = editor.hints(path, "task")
    assert "Trial 1. The prompt was sent 0:34 ago (since " in hint.tooltip
    assert at("grading")
    assert told() == ["⟳ running · grading"]
    assert not at("output", message="an answer")
    assert not at("asking", baseline=True)
    write_results(suite, {"first": [[EXPECTED]], "second": []}, more=engine("canceled"))
    editor.workspace.project.scores.forget()
    assert told() == ["⟳ running · grading"]
    assert at("passed")
    assert at("asking", trial=2)
    assert told() == ["⟳ running · trial 2 · prompt sent"]
    assert at("failed", trial=2)
    assert told() == ["– waits for its turn"]
    active_runs.end(key)
    assert told() == ["– not run"]


def test_a_trigger_prompt_that_is_tried_says_so_in_its_list(suite: Path) -> None:
    path, editor, key = suite.parent / "trigger_tests.yaml", Editor(), object()
    active_runs = editor.workspace.project.scores.active_runs
    prompt = {"prompt": "Use it", "should_trigger": True}

    def told() -> list[str]:
        return [hint.label for hint in editor.hints(path, "trigger_tests")]

    active_runs.begin(key, ActiveRun(RunnableId(suite), RUN_AT))
    assert told() == []
    assert not active_runs.note(key, {"kind": "output", **prompt}, NOW)
    assert active_runs.note(key, {"kind": "started", **prompt}, NOW - timedelta(seconds=34))
    (hint,) = editor.hints(path, "trigger_tests")
    assert hint.label == "⟳ running · prompt sent"
    assert hint.tooltip.startswith("**`Use it`** ⟳ running\n\nThe prompt was sent 0:34 ago (since ")
    assert active_runs.note(key, {"kind": "tried", "status": "passed", **prompt}, NOW)
    assert told() == []
    write_results(suite, {}, more={"trigger_results": [{**prompt, "did_trigger": True}]})
    editor.workspace.project.scores.forget()
    assert told() == ["✓"]
    active_runs.note(key, {"kind": "started", **prompt, "should_trigger": False}, NOW)
    assert told() == ["✓"]
    active_runs.note(key, {"kind": "started", **prompt}, NOW)
    assert told() == ["⟳ running · prompt sent"]


def test_what_runs_in_another_suite_is_not_under_way_here(suite: Path, tmp_path: Path) -> None:
    editor, key = Editor(), object()
    active_runs = editor.workspace.project.scores.active_runs
    active_runs.begin(key, ActiveRun(RunnableId(tmp_path / "other/eval.yaml"), RUN_AT))
    active_runs.note(key, {"kind": "asking", "task": "second", "trial": 1}, NOW)
    assert not editor.hints(suite.parent / "tasks/second.yaml", "task")
    assert not editor.hints(suite, "eval")


def test_a_first_run_that_was_cut_short_says_so_and_how_far_it_came(suite: Path) -> None:
    why = {"verdict": "interrupted", "reasons": ["the run was cancelled; what was finished is kept"]}
    more = engine("canceled")
    more["metadata"]["engine"]["conclusion"] = why
    write_results(suite, {"first": [[EXPECTED]], "second": []}, more=more)
    editor = Editor()
    whole = editor.hints(suite, "eval")[0]
    assert whole.label == "! cancelled · 1 failed of 2 tasks"
    assert "the run was cancelled; what was finished is kept" in whole.tooltip
    assert "- `first` ✗ 0.50" in whole.tooltip
    assert whole.tooltip.endswith("Recorded 5 minutes ago (`mock`).")
    changed = editor.hints(suite, "eval", EVAL.replace("deployed", "shipped"))[0]
    assert changed.label == "! cancelled · 1 failed of 2 tasks · stale"
    write_results(suite, {"first": [[EXPECTED]]}, at=RUN_AT + timedelta(minutes=1), more=engine("failed"))
    assert Editor().hints(suite, "eval")[0].label == "✗ 1 of 1 task"


@pytest.mark.parametrize(("alive", "label"), [(False, "! interrupted · none judged of 3 tasks"), (True, "")])
def test_a_first_run_says_whether_it_was_killed(suite: Path, *, alive: bool, label: str) -> None:
    process = psutil.Process()
    owner = {"pid": process.pid, "started": process.create_time() if alive else 1.0}
    planned = [{"test_id": name, "display_name": name} for name in ("first", "second", "third")]
    path = write_results(suite, {}, more=engine("") | {"process": owner, "planned": planned})
    head = json.loads(path.read_text("utf-8"))
    del head["tasks"]
    path.with_suffix(JOURNAL_SUFFIX).write_text(json.dumps(head) + "\n", "utf-8")
    path.unlink()
    assert [hint.label for hint in Editor().hints(suite, "eval")] == ([label] if label else [])


def test_a_grader_that_runs_again_says_so_and_its_task_does_not(suite: Path) -> None:
    write_results(suite, {"second": [[grade("mentions", 1.0)]]}, more=engine("completed"))
    editor = Editor()
    active_runs = editor.workspace.project.scores.active_runs
    for grader, label in (("mentions", "✓ 1.00 · stale: runs again"), ("other", "✓ 1.00")):
        target = RunnableId(suite, None, grader)
        active_runs.begin(1, ActiveRun(target, RUN_AT + timedelta(minutes=1)))
        assert [hint.label for hint in editor.hints(suite, "eval") if hint.kind == "score"] == [label]


def test_a_figure_of_trigger_prompts_is_stale_for_what_decides_it_alone(suite: Path) -> None:
    text = EVAL.replace("task_completion", "trigger_accuracy")
    suite.write_text(text, "utf-8")
    figure = {"identifier": "trigger_accuracy", "value": 1.0, "threshold": 0.9, "passed": True}
    more = engine("completed", metrics={"trigger_accuracy": figure})
    write_results(suite, {"second": [[grade("mentions", 1.0)]]}, more=more)
    editor = Editor()
    assert editor.hints(suite, "eval")[1].label == "✓ 1.00"
    whole, of_triggers, _ = editor.hints(suite, "eval", text.replace("deployed", "shipped"))
    assert (whole.label, of_triggers.label) == ("✓ 1/1 task · stale", "✓ 1.00")
    assert "stale: the grader `mentions` was changed after the run" in whole.tooltip
    other = editor.hints(suite, "eval", text.replace("threshold: 0.9", "threshold: 0.8"))[1]
    assert other.label == "✓ 1.00 · stale"


def test_a_metric_is_stale_for_its_own_threshold_and_not_for_that_of_another(suite: Path) -> None:
    text = EVAL.replace("metrics:\n", "metrics:\n  - {name: efficiency, weight: 1, threshold: 0.5}\n")
    suite.write_text(text, "utf-8")
    figures = {
        name: {"identifier": name, "value": 1.0, "threshold": threshold, "passed": True}
        for name, threshold in (("task_completion", 0.9), ("efficiency", 0.5))
    }
    write_results(suite, {"second": [[grade("mentions", 1.0)]]}, more=engine("completed", metrics=figures))
    edited = text.replace("threshold: 0.5", "threshold: 0.4")
    whole, efficiency, completion, _ = Editor().hints(suite, "eval", edited)
    assert (efficiency.label, completion.label) == ("✓ 1.00 · stale", "✓ 1.00")
    assert "stale: the metric was changed after the run" in efficiency.tooltip
    assert whole.label == "✓ 1/1 task · stale"


@pytest.mark.parametrize(
    ("change", "stale"),
    [
        (("", ""), ""),
        (("reason: r", "reason: another"), ""),
        (("Use it", "Take it"), " · stale"),
        (("  - {prompt: Use it, reason: r}\n", ""), " · stale"),
        (("[Leave it]", "[Leave it, Stop]"), " · stale"),
        (("[Leave it]", "[Use it]"), " · stale"),
    ],
)
def test_other_trigger_prompts_make_scores_stale(suite: Path, change: tuple[str, str], stale: str) -> None:
    suite.write_text(EVAL.replace("task_completion", "trigger_accuracy"), "utf-8")
    triggers = (
        "should_trigger_prompts:\n  - {prompt: Use it, reason: r}\nshould_not_trigger_prompts: [Leave it]\n"
    )
    put(suite.parent, "trigger_tests.yaml", triggers.replace(*change))
    figure = {"identifier": "trigger_accuracy", "value": 1.0, "threshold": 0.9, "passed": True}
    tried = [
        {"prompt": "Use it", "should_trigger": True, "did_trigger": True},
        {"prompt": "Leave it", "should_trigger": False, "did_trigger": False},
    ]
    more = engine("completed", metrics={"trigger_accuracy": figure}, trigger_results=tried)
    write_results(suite, {"second": [[grade("mentions", 1.0)]]}, more=more)
    editor = Editor()
    whole, of_triggers, _ = editor.hints(suite, "eval")
    told = stale_results(editor.workspace.project, suite)
    assert [result.id for result in told] == ([RunnableId(suite)] if stale else [])
    assert (whole.label, of_triggers.label) == (f"✓ 1/1 task{stale}", f"✓ 1.00{stale}")
    if stale:
        assert "stale: the trigger prompts were changed after the run" in whole.tooltip


@pytest.mark.parametrize(("alive", "words"), [(True, "running elsewhere"), (False, "stale")])
def test_a_run_of_another_window_is_told_as_one_that_goes_on(suite: Path, *, alive: bool, words: str) -> None:
    write_results(suite, {"second": [[grade("mentions", 1.0)]]}, more=engine("completed"))
    process = psutil.Process()
    owner = {"pid": process.pid, "started": process.create_time() if alive else 1.0}
    planned = [{"test_id": "second", "display_name": "second"}]
    later = RUN_AT + timedelta(minutes=1)
    path = write_results(suite, {}, at=later, more=engine("") | {"process": owner, "planned": planned})
    head = json.loads(path.read_text("utf-8"))
    del head["tasks"]
    path.with_suffix(JOURNAL_SUFFIX).write_text(json.dumps(head) + "\n", "utf-8")
    path.unlink()
    told = Editor().hints(suite, "eval")[0]
    assert told.label == f"✓ 1/1 task · {words}"
    assert told.tooltip.endswith("; it is running elsewhere, in another window or a terminal.") == alive
