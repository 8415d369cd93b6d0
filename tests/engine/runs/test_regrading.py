"""A recorded run graded again: the same suite says the same, a changed one says what it now thinks."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.engine.suites import GREETS, present, recorded, task, write_suite
from waza_engine.commands.regraded import answer, document, graded
from waza_engine.graders import registry
from waza_engine.graders.base import Grader, GraderConfig, GradingContext, Verdict
from waza_engine.results.reading.recordings import RecordingError
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.loading.suite_on_disk import SuiteError
from waza_engine.runs.regrading.regrade import RegradeRequest, prepare_regrading
from waza_engine.runs.regrading.resident import ResidentSuites
from waza_engine.user_state import remember_workspace

EXAMPLE = Path(__file__).parents[3] / "examples" / "code-explainer"
SAYS = "- {type: text, name: says, config: {contains: [nothing of the kind]}}\n"
NEEDS_FILE = "- {type: file, name: leaves, config: {must_exist: [a.txt]}}\n"


def grade(record: Path, **options: Any) -> dict[str, Any]:
    with ResidentSuites() as suites:
        regrading = prepare_regrading(RegradeRequest(record, **options), suites)
        return answer(regrading, graded(regrading, RunCancellation()))


def written(record: Path, **options: Any) -> dict[str, Any]:
    with ResidentSuites() as suites:
        regrading = prepare_regrading(RegradeRequest(record, **options), suites)
        return document(regrading, graded(regrading, RunCancellation()))


def upstream(directory: Path, run_of_it: dict[str, Any], **task_keys: Any) -> Path:
    """Write a record as upstream does, of one task `a` with one trial."""
    path = directory / "results.json"
    trial = {"run_number": 1, "attempts": 1, "status": "passed", "duration_ms": 5, "validations": {}}
    one: dict[str, Any] = {
        "test_id": "a",
        "display_name": "A",
        "status": "passed",
        "runs": [trial | run_of_it],
    }
    digest = {"tool_call_count": 0, "tools_used": None, "errors": None}
    one["runs"][0].setdefault("session_digest", digest)
    content = {"schemaVersion": "1.2", "eval_name": "suite", "timestamp": "2026-01-01T00:00:00Z"}
    path.write_text(json.dumps({**content, "tasks": [one | task_keys]}))
    return path


def test_the_same_suite_says_the_same(tmp_path: Path) -> None:
    suite = write_suite(
        tmp_path,
        {"a": task("a", "expected: {output_contains: [hello, gone]}\n"), "b": task("b", prompt="Bye")},
        graders=GREETS + "- {type: code, name: long, weight: 3, config: {assertions: [len(output) > 40]}}\n",
    )
    record = recorded(suite, trials=2)
    then, now = json.loads(record.read_text()), written(record)
    assert now["summary"] == then["summary"]
    for before, after in zip(then["tasks"], now["tasks"], strict=True):
        assert (after["status"], after["stats"]) == (before["status"], before["stats"])
        for old, new in zip(before["runs"], after["runs"], strict=True):
            assert without_times(new["validations"]) == without_times(old["validations"])


def test_the_example_suite_says_the_same(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "suite", ignore=shutil.ignore_patterns(".waza"))
    record = recorded(tmp_path / "suite" / "eval.yaml")
    checked = 0
    for found in grade(record)["tasks"].values():
        for grader in found["graders"].values():
            assert grader["origin"] == ("recorded" if grader["type"] in ("file", "diff") else "live")
            assert grader["score"] == grader["recorded"]["score"]
            assert grader["passed"] == grader["recorded"]["passed"]
            checked += 1
    assert checked > 15


def test_a_changed_grader_gives_its_new_verdict_beside_the_old(tmp_path: Path) -> None:
    record = recorded(write_suite(tmp_path, {"a": task("a")}, graders=GREETS))
    write_suite(tmp_path, {"a": task("a")}, graders=GREETS.replace("[hello]", "[hello, goodbye]"))
    found = grade(record)["tasks"]["a"]
    assert (found["status"], found["overall_score"], found["grader_averages"]) == (
        "failed",
        0.5,
        {"greets": 0.5},
    )
    greets = found["graders"]["greets"]
    assert greets["recorded"] == {"score": 1.0, "passed": True}
    assert [check["passed"] for check in greets["checks"]] == [True, False]


def test_a_new_grader_has_no_recorded_verdict_and_a_removed_one_is_gone(tmp_path: Path) -> None:
    record = recorded(write_suite(tmp_path, {"a": task("a")}, graders=GREETS))
    write_suite(tmp_path, {"a": task("a")}, graders=SAYS)
    graders = grade(record)["tasks"]["a"]["graders"]
    assert {name: found["recorded"] for name, found in graders.items()} == {"says": None}


def test_the_overall_score_weighs_graders_and_averages_tasks(tmp_path: Path) -> None:
    heavy = SAYS.replace("name: says", "name: says, weight: 3")
    tasks = {"a": task("a"), "b": task("b", prompt="hello nothing of the kind")}
    found = grade(recorded(write_suite(tmp_path, tasks, graders=GREETS + heavy)))
    assert [each["overall_score"] for each in found["tasks"].values()] == [0.25, 1.0]
    assert (found["overall_score"], found["passed"]) == (0.625, False)


def test_only_the_tasks_and_graders_asked_for_are_graded(tmp_path: Path) -> None:
    record = recorded(write_suite(tmp_path, {"a": task("a"), "b": task("b")}, graders=GREETS + SAYS))
    found = grade(record, tasks=["b"], graders=["greets"])
    assert {name: list(each["graders"]) for name, each in found["tasks"].items()} == {"b": ["greets"]}
    assert found["passed"]


def test_the_document_keeps_what_was_not_asked_for(tmp_path: Path) -> None:
    record = recorded(write_suite(tmp_path, {"a": task("a"), "b": task("b")}, graders=GREETS + SAYS))
    write_suite(tmp_path, {"a": task("a"), "b": task("b")}, graders=GREETS.replace("hello", "adieu") + SAYS)
    tasks = written(record, tasks=["b"], graders=["greets"])["tasks"]
    scores = [{name: v["score"] for name, v in each["runs"][0]["validations"].items()} for each in tasks]
    assert scores == [{"greets": 1.0, "says": 0.0}, {"greets": 0.0, "says": 0.0}]


def test_golden_groups_metrics_and_unknown_keys_stay(tmp_path: Path) -> None:
    write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    record = upstream(tmp_path, {"final_output": "hello", "x": 1}, golden=True, group="g", y=2)
    content = json.loads(record.read_text())
    kept = {"metrics": {"m": {"value": 1}}, "trigger_results": [{"prompt": "p"}], "is_baseline": True}
    record.write_text(json.dumps(content | kept))
    found = written(record)
    assert {key: found[key] for key in kept} == kept
    only = found["tasks"][0]
    assert (only["golden"], only["group"], only["y"], only["runs"][0]["x"]) == (True, "g", 2, 1)
    assert found["summary"]["groups"] == [{"name": "g", "passed": 1, "total": 1, "avg_score": 1.0}]


def test_metrics_follow_from_the_new_verdicts(tmp_path: Path) -> None:
    write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    record = upstream(tmp_path, {"final_output": "bye"})
    metric = {"identifier": "task_completion", "value": 1.0, "threshold": 0.5, "passed": True, "weight": 2}
    record.write_text(json.dumps(json.loads(record.read_text()) | {"metrics": {"task_completion": metric}}))
    assert written(record)["metrics"] == {"task_completion": {**metric, "value": 0.0, "passed": False}}
    assert grade(record)["conclusion"]["notes"] == ["task_completion is 0.00, below 0.5"]


def test_what_described_the_old_verdicts_goes(tmp_path: Path) -> None:
    write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    broken = {"final_output": "hello", "failure_artifacts": {"exit_code": 1}}
    only = written(upstream(tmp_path, broken, skill_impact={"delta": 1}))["tasks"][0]
    assert "failure_artifacts" not in only["runs"][0]
    assert "skill_impact" not in only


def test_a_trial_that_broke_keeps_its_error(tmp_path: Path) -> None:
    write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    record = upstream(tmp_path, {"status": "error", "error_msg": "no answer", "validations": None})
    found = grade(record)["tasks"]["a"]
    assert (found["status"], found["error"], found["graders"]) == ("error", "no answer", {})
    assert written(record)["tasks"][0]["runs"][0]["error_msg"] == "no answer"


def test_a_trial_whose_grader_broke_is_graded_again(tmp_path: Path) -> None:
    record = recorded(write_suite(tmp_path, {"a": task("a")}, graders="- {type: text, name: greets}\n"))
    assert json.loads(record.read_text())["tasks"][0]["status"] == "error"
    write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    assert grade(record)["tasks"]["a"]["status"] == "passed"


@pytest.mark.parametrize(("checkpoint", "status"), [("passed", "passed"), ("failed", "failed")])
def test_what_a_checkpoint_said_counts_as_it_did(tmp_path: Path, checkpoint: str, status: str) -> None:
    write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    checkpoints = [{"after_turn": 1, "status": checkpoint, "validations": {}}]
    record = upstream(tmp_path, {"final_output": "hello", "checkpoints": checkpoints})
    assert grade(record)["tasks"]["a"]["status"] == status


def test_tool_calls_have_their_complete_arguments(tmp_path: Path) -> None:
    rejects = "{reject_tools: [{tool: edit, args: {region: {equals: eu}}}]}"
    write_suite(
        tmp_path, {"a": task("a")}, graders=f"- {{type: tool_constraint, name: calls, config: {rejects}}}\n"
    )
    digest = {
        "tool_call_count": 1,
        "tool_calls": [{"id": "1", "name": "edit", "arguments": {"path": "", "command": ""}}],
    }
    event = {"turn": 1, "sequence": 1, "tool_call_id": "1", "tool_name": "edit", "args": {"region": "eu"}}
    start = {
        "type": "tool.execution_start",
        "tool_call_id": "1",
        "tool_name": "edit",
        "arguments": event["args"],
    }
    for more in ({"tool_events": [event]}, {"transcript": [start]}):
        record = upstream(tmp_path, {"final_output": "x", "session_digest": digest, **more})
        assert grade(record)["tasks"]["a"]["status"] == "failed"
    assert grade(upstream(tmp_path, {"final_output": "x", "session_digest": digest}))["passed"]


def test_verdicts_on_files_stay_when_the_workspace_is_gone(tmp_path: Path) -> None:
    lacks = "- {type: file, name: lacks, config: {must_not_exist: [a.txt]}}\n"
    record = recorded(write_suite(tmp_path, {"a": task("a")}, graders=GREETS + NEEDS_FILE + lacks))
    found = grade(record)["tasks"]["a"]["graders"]
    assert {name: (one["origin"], one["status"], one["score"]) for name, one in found.items()} == {
        "greets": ("live", "graded", 1.0),
        "leaves": ("recorded", "graded", 0.0),
        "lacks": ("recorded", "graded", 1.0),
    }
    assert grade(record, workspace=tmp_path)["tasks"]["a"]["graders"]["lacks"]["origin"] == "live"


@pytest.mark.parametrize("graders", [("leaves",), ()])
def test_a_grader_of_files_that_is_asked_for_or_new_says_that_they_are_gone(
    tmp_path: Path, graders: tuple[str, ...]
) -> None:
    record = recorded(write_suite(tmp_path, {"a": task("a")}, graders=NEEDS_FILE if graders else GREETS))
    write_suite(tmp_path, {"a": task("a")}, graders=NEEDS_FILE)
    found = grade(record, graders=graders)["tasks"]["a"]["graders"]["leaves"]
    assert found["status"] == "error"
    assert "--workspace" in found["feedback"]


def test_a_type_of_somebody_else_declares_that_it_needs_the_workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Nothing(GraderConfig):
        """No options."""

    class LeavesPage(Grader[Nothing]):
        """Wants a page."""

        type, title, config_model, example = "leaves_page", "Page", Nothing, "type: leaves_page"
        needs_workspace = True

        def grade(self, context: GradingContext) -> Verdict:
            passed = (present(context.workspace) / "a.html").exists()
            return Verdict(float(passed), passed, "there" if passed else "missing")

    monkeypatch.setitem(registry._registered, "leaves_page", LeavesPage)
    write_suite(tmp_path, graders="- {type: leaves_page, name: page}\n", tasks={"a": task("a")})
    verdict = {"type": "leaves_page", "score": 1, "passed": True, "feedback": "there"}
    record = upstream(tmp_path, {"final_output": "x", "validations": {"page": verdict}})
    found = grade(record)["tasks"]["a"]["graders"]["page"]
    assert (found["passed"], found["origin"], found["feedback"]) == (True, "recorded", "there")
    assert not grade(record, workspace=tmp_path)["passed"]


def test_file_looks_into_the_given_workspace_or_the_kept_one(tmp_path: Path) -> None:
    write_suite(tmp_path, {"a": task("a")}, graders=NEEDS_FILE)
    kept, other = tmp_path / "kept", tmp_path / "other"
    kept.mkdir()
    other.mkdir()
    (kept / "a.txt").write_text("x")
    record = upstream(tmp_path, {"final_output": "x", "workspace_dir": str(kept)})
    assert not grade(record)["passed"], "anybody may write a record"
    remember_workspace(kept)
    assert grade(record)["passed"]
    assert not grade(record, workspace=other)["passed"]
    with pytest.raises(SuiteError, match="not a directory"):
        grade(record, workspace=tmp_path / "gone")


def test_a_program_without_the_workspace_is_warned_about(tmp_path: Path) -> None:
    program = "- {type: program, name: checks, config: {command: python3, args: [-c, pass]}}\n"
    record = recorded(write_suite(tmp_path, {"a": task("a")}, graders=program))
    assert "`checks` runs a program" in grade(record)["warnings"][0]
    assert grade(record, workspace=tmp_path)["warnings"] == []


def test_tasks_on_one_side_alone_are_named(tmp_path: Path) -> None:
    record = recorded(write_suite(tmp_path, {"a": task("a"), "b": task("b")}, graders=GREETS))
    (tmp_path / "tasks" / "b.yaml").unlink()
    write_suite(tmp_path, {"a": task("a"), "c": task("c")}, graders=GREETS)
    found = grade(record)
    assert list(found["tasks"]) == ["a"]
    assert [warning.split("`")[1] for warning in found["warnings"]] == ["b", "c"]
    assert [each["test_id"] for each in written(record)["tasks"]] == ["a", "b"]


def test_a_task_file_that_broke_since_is_that_task_s_error(tmp_path: Path) -> None:
    record = recorded(write_suite(tmp_path, {"a": task("a"), "b": task("b")}, graders=GREETS))
    (tmp_path / "tasks" / "b.yaml").write_text("id: [")
    assert [(n, each["status"]) for n, each in grade(record)["tasks"].items()] == [
        ("a", "passed"),
        ("b", "error"),
    ]


def test_the_suite_is_found_above_the_record_by_its_name(tmp_path: Path) -> None:
    write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    below = tmp_path / "out" / "today"
    below.mkdir(parents=True)
    record = upstream(below, {"final_output": "hello"})
    assert grade(record)["suite"] == str(tmp_path / "eval.yaml")
    record.write_text(record.read_text().replace('"suite"', '"another"'))
    with pytest.raises(SuiteError, match="--suite"):
        grade(record)
    assert grade(record, suite=tmp_path / "eval.yaml")["passed"]


def test_a_record_of_the_first_version_is_graded(tmp_path: Path) -> None:
    write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    trial = {"trial_id": 1, "status": "passed", "output": "hello", "grader_results": {}}
    first = {"eval_name": "suite", "summary": {"total_tasks": 1}, "tasks": [{"id": "a", "trials": [trial]}]}
    record = tmp_path / "old.json"
    record.write_text(json.dumps(first))
    assert grade(record)["passed"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "no result file"),
        ("", "not a result file"),
        ("[]", "not a result file"),
        ('{"tasks": 3}', "not a result file"),
        ('{"tasks": []}', "no task"),
        ('{"schemaVersion": "2.0", "tasks": [{}]}', "version 2.0"),
    ],
)
def test_what_is_no_record_is_refused(tmp_path: Path, content: str | None, said: str) -> None:
    record = tmp_path / "results.json"
    if content is not None:
        record.write_text(content)
    with pytest.raises(RecordingError, match=said):
        grade(record)


@pytest.mark.parametrize("odd", [None, 3, "x", [], {"a": None}, [None, 3]])
def test_a_record_may_hold_anything_anywhere(tmp_path: Path, odd: object) -> None:
    write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    keys = ("run_number", "status", "duration_ms", "validations", "session_digest", "transcript")
    keys += ("final_output", "skill_invocations", "usage", "workspace_dir", "checkpoints", "tool_events")
    record = upstream(tmp_path, dict.fromkeys(keys, odd))
    assert list(grade(record)["tasks"]) == ["a"]
    json.dumps(written(record), allow_nan=False)


def without_times(validations: dict[str, Any]) -> dict[str, Any]:
    return {
        name: {key: value for key, value in found.items() if key != "duration_ms"}
        for name, found in validations.items()
    }
