"""The executor `replay`: recorded runs, transcripts and snapshots as answers."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from waza_engine.executors.executor import (
    ExecutionRequest,
    ExecutionResponse,
    ExecutorError,
    ExecutorSettings,
)
from waza_engine.executors.replay import ReplayExecutor
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.spec.eval_config import EvalConfig
from waza_engine.user_state import remember_workspace
from waza_engine.vocabulary import SkillInvocation

USER = {"type": "user.message", "content": "Hi"}
SAYS = {"type": "assistant.message", "content": "Hello"}
START = {"type": "tool.execution_start", "tool_call_id": "1", "tool_name": "Read", "arguments": {"path": "a"}}
END = {
    "type": "tool.execution_complete",
    "tool_call_id": "1",
    "success": True,
    "tool_result": {"content": "x"},
}
SKILL = {"type": "skill.invoked", "name": "writer"}
GRADED = {"t": {"identifier": "t", "type": "text", "score": 1, "passed": True}}


def trial(number: int = 1, **keys: Any) -> dict[str, Any]:
    return {
        "run_number": number,
        "status": "passed",
        "final_output": f"output {number}",
        "duration_ms": 1500,
        "validations": GRADED,
        "session_digest": {},
        **keys,
    }


def document(*trials: dict[str, Any], task: str = "a", **keys: Any) -> dict[str, Any]:
    return {
        "eval_name": "suite",
        "skill": "writer",
        "summary": {"total_tests": 1},
        "tasks": [{"test_id": task, "display_name": task, "status": "passed", "runs": list(trials)}],
        **keys,
    }


def recorded(directory: Path, content: dict[str, Any], name: str = "run.json", age: float = 0) -> Path:
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), "utf-8")
    moment = path.stat().st_mtime - age
    os.utime(path, (moment, moment))
    return path


def replaying(directory: Path, recording: str = "run.json", eval_file: str = "") -> ReplayExecutor:
    values = {"trials_per_task": 1, "timeout_seconds": 5, "executor": "replay", "recording": recording}
    return ReplayExecutor(ExecutorSettings(directory, EvalConfig.model_validate(values), eval_file))


def ask(executor: ReplayExecutor, directory: Path, **options: Any) -> ExecutionResponse:
    workspace = directory / "workspace"
    workspace.mkdir(exist_ok=True)
    request = ExecutionRequest("Hi", workspace, task_id="a", trial=1)
    return executor.execute(replace(request, **options), RunCancellation())


def refused(directory: Path, content: dict[str, Any], **options: Any) -> str:
    recorded(directory, content)
    with pytest.raises(ExecutorError) as caught:
        ask(replaying(directory), directory, **options)
    return str(caught.value)


def test_a_trial_gets_what_was_recorded_for_its_number(tmp_path: Path) -> None:
    events = [USER, START, SKILL, END, SAYS]
    usage = {"turns": 2, "input_tokens": 5}
    second = trial(2, transcript=events, usage=usage, skill_invocations=[{"name": "writer"}])
    recorded(tmp_path, document(trial(1), second))
    found = ask(replaying(tmp_path), tmp_path, trial=2)
    assert (found.output, found.duration_ms, found.error) == ("output 2", 1500, None)
    assert list(found.events) == events
    assert [(call.name, dict(call.arguments), call.success) for call in found.tool_calls] == [
        ("Read", {"path": "a"}, True)
    ]
    assert list(found.skill_invocations) == [SkillInvocation("writer")]
    assert found.usage is not None
    assert (found.usage.turns, found.usage.input_tokens) == (2, 5)
    assert ask(replaying(tmp_path), tmp_path).output == "output 1"


def test_it_costs_nothing_and_judges_nothing(tmp_path: Path) -> None:
    recorded(tmp_path, document(trial()))
    executor = replaying(tmp_path)
    assert (executor.costs, executor.has_model, executor.answers_triggers) == (False, False, False)


def test_what_was_not_recorded_is_an_error_of_that_trial(tmp_path: Path) -> None:
    assert refused(tmp_path, document(trial()), task_id="b") == (
        "`run.json` has no answer to the task `b`; record it again"
    )
    assert refused(tmp_path, document(trial()), trial=2) == (
        "`run.json` has 1 trial of the task `a`, and none with the number 2; "
        "run with `--trials 1`, or record it again"
    )


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("gone.json", None, "`config.recording`: There is no result file"),
        ("other.json", {"a": 1}, "is not a result file"),
        ("empty.json", {"eval_name": "x", "tasks": []}, "holds no task"),
    ],
)
def test_a_recording_that_is_none_is_told_before_the_run(
    tmp_path: Path, name: str, content: dict[str, Any] | None, said: str
) -> None:
    if content is not None:
        recorded(tmp_path, content, name)
    with pytest.raises(ExecutorError) as caught:
        replaying(tmp_path, name)
    assert said in str(caught.value)


def test_a_recorded_error_is_one_again(tmp_path: Path) -> None:
    partial = trial(status="error", error_msg="the agent did not answer", final_output="half")
    recorded(tmp_path, document(partial))
    found = ask(replaying(tmp_path), tmp_path)
    assert (found.output, found.error) == ("half", "the agent did not answer")


def test_a_trial_that_never_answered_does_not_now(tmp_path: Path) -> None:
    broken = trial(status="error", error_msg="no key", validations=None, final_output="")
    assert refused(tmp_path, document(broken)) == "no key"


def test_the_error_of_a_checkpoint_is_not_the_agents(tmp_path: Path) -> None:
    stopped = trial(
        status="error", error_msg="the checkpoint after turn 1 did not pass, and it stops the conversation"
    )
    recorded(tmp_path, document(stopped))
    assert ask(replaying(tmp_path), tmp_path).error is None


TWO_TURNS = [USER, START, END, SAYS, {**USER, "content": "More"}, SKILL, {**SAYS, "content": "Bye"}]


def test_a_conversation_is_cut_at_the_users_messages(tmp_path: Path) -> None:
    usage = {"input_tokens": 5}
    content = trial(transcript=TWO_TURNS, skill_invocations=[{"name": "writer"}], usage=usage)
    recorded(tmp_path, document(content))
    executor = replaying(tmp_path)
    first = ask(executor, tmp_path, follow_ups=1)
    assert (first.output, list(first.events)) == ("Hello", TWO_TURNS[:4])
    assert ([call.name for call in first.tool_calls], list(first.skill_invocations)) == (["Read"], [])
    second = ask(executor, tmp_path, session=first.session)
    assert (second.output, list(second.events)) == ("output 1", TWO_TURNS[4:])
    assert (list(second.tool_calls), list(second.skill_invocations)) == ([], [SkillInvocation("writer")])
    assert (first.duration_ms, second.duration_ms) == (1500, 0)
    assert first.usage is not None
    assert second.usage is None


def test_messages_that_are_no_turn_of_their_own_are_never_lost(tmp_path: Path) -> None:
    recorded(tmp_path, document(trial(transcript=TWO_TURNS)))
    found = ask(replaying(tmp_path), tmp_path)
    assert (found.output, list(found.events)) == ("output 1", TWO_TURNS)


def test_what_cannot_be_cut_comes_with_the_first_turn(tmp_path: Path) -> None:
    recorded(tmp_path, document(trial(transcript=[START, END, SAYS])))
    executor = replaying(tmp_path)
    first = ask(executor, tmp_path, follow_ups=2)
    assert (first.output, len(first.tool_calls)) == ("output 1", 1)
    second = ask(executor, tmp_path, session=first.session, follow_ups=1)
    third = ask(executor, tmp_path, session=second.session)
    assert [(turn.output, len(turn.events), len(turn.tool_calls)) for turn in (second, third)] == [
        ("output 1", 0, 0),
        ("output 1", 0, 0),
    ]


def test_a_turn_that_was_not_recorded_is_an_error(tmp_path: Path) -> None:
    recorded(tmp_path, document(trial(transcript=[USER, SAYS])))
    executor = replaying(tmp_path)
    first = ask(executor, tmp_path, follow_ups=1)
    with pytest.raises(ExecutorError, match="was recorded with 1 turn, not with 2; record it again"):
        ask(executor, tmp_path, session=first.session)


def test_a_follow_up_that_failed_fails_again(tmp_path: Path) -> None:
    failed = trial(transcript=[USER, SAYS], status="error", error_msg="follow-up 1/2: it broke")
    recorded(tmp_path, document(failed))
    executor = replaying(tmp_path)
    first = ask(executor, tmp_path, follow_ups=2)
    assert first.error is None
    with pytest.raises(ExecutorError, match=r"^it broke$"):
        ask(executor, tmp_path, session=first.session, follow_ups=1)


def test_calls_that_are_in_no_event_belong_to_the_first_turn(tmp_path: Path) -> None:
    events = [{"tool_name": "Bash", "args": {"command": "ls"}, "success": True, "sequence": 1}]
    recorded(tmp_path, document(trial(transcript=TWO_TURNS, tool_events=events)))
    executor = replaying(tmp_path)
    first = ask(executor, tmp_path, follow_ups=1)
    assert [call.name for call in first.tool_calls] == ["Bash"]
    assert list(ask(executor, tmp_path, session=first.session).tool_calls) == []


def test_without_a_recording_the_newest_results_of_each_task_count(tmp_path: Path) -> None:
    results = ".waza/results"
    recorded(tmp_path, document(trial(final_output="old")), f"{results}/1.json", age=30)
    recorded(tmp_path, document(trial(final_output="new")), f"{results}/2.json", age=20)
    recorded(tmp_path, document(trial(), task="b"), f"{results}/3.json", age=10)
    replayed = document(trial(final_output="replayed"), config={"engine_type": "replay"})
    recorded(tmp_path, replayed, f"{results}/4.json")
    (tmp_path / results / "5.json").write_text("{")
    executor = replaying(tmp_path, "")
    assert ask(executor, tmp_path).output == "new"
    assert ask(executor, tmp_path, task_id="b").output == "output 1"


def test_a_run_that_was_stopped_hides_no_answer_of_the_run_before_it(tmp_path: Path) -> None:
    stopped = trial(2, status="error", stopped=True, final_output="", error_msg="the limit is reached")
    recorded(tmp_path, document(trial(), trial(2)), ".waza/results/a.json", age=100)
    recorded(tmp_path, document(trial(final_output="later"), stopped), ".waza/results/b.json")
    newest = replaying(tmp_path, "")
    assert [ask(newest, tmp_path, trial=number).output for number in (1, 2)] == ["output 1", "output 2"]
    named = replaying(tmp_path, ".waza/results/b.json")
    assert ask(named, tmp_path).output == "later"
    with pytest.raises(ExecutorError, match="has 1 trial of the task `a`, and none with the number 2"):
        ask(named, tmp_path, trial=2)


def test_results_of_another_suite_in_the_same_folder_do_not_count(tmp_path: Path) -> None:
    for age, name in ((10, "eval.yaml"), (0, "other.yaml")):
        content = document(trial(final_output=name), metadata={"engine": {"eval_file": name}})
        recorded(tmp_path, content, f".waza/results/{name}.json", age=age)
    assert ask(replaying(tmp_path, "", "eval.yaml"), tmp_path).output == "eval.yaml"


def test_without_any_results_there_is_nothing_to_replay(tmp_path: Path) -> None:
    with pytest.raises(ExecutorError, match="no results to replay; run it first"):
        replaying(tmp_path, "")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ExecutorError, match="there is no recording in the directory"):
        replaying(tmp_path, "empty")


def test_a_transcript_file_holds_the_last_trial_of_its_task(tmp_path: Path) -> None:
    content = {
        "task_id": "a",
        "prompt": "Hi",
        "final_output": "last",
        "transcript": [USER, SAYS, USER, SKILL, START, END, SAYS],
        "session": {"tool_call_count": 1},
        "validations": GRADED,
    }
    recorded(tmp_path, content, "transcripts/a-1.json")
    for place in ("transcripts/a-1.json", "transcripts"):
        found = ask(replaying(tmp_path, place), tmp_path)
        assert (found.output, len(found.events), len(found.tool_calls)) == ("last", 5, 1)
        assert list(found.skill_invocations) == [SkillInvocation("writer")]


def test_snapshots_of_a_task_are_its_trials(tmp_path: Path) -> None:
    for number in (1, 2):
        content = {
            "kind": "task-snapshot",
            "task": {"testId": "a", "runNumber": number},
            "toolEvents": [
                {"toolName": "skill", "args": {"skill": "writer"}, "success": True, "toolCallId": "1"}
            ],
            "result": {"status": "passed", "finalOutput": f"output {number}", "durationMs": 70},
        }
        recorded(tmp_path, content, f"snapshots/a-run{number}.json", age=number)
    executor = replaying(tmp_path, "snapshots")
    for number in (1, 2):
        found = ask(executor, tmp_path, trial=number)
        assert (found.output, found.duration_ms) == (f"output {number}", 70)
        assert [(call.name, dict(call.arguments)) for call in found.tool_calls] == [
            ("skill", {"skill": "writer"})
        ]
        assert list(found.skill_invocations) == [SkillInvocation("writer")]
    with pytest.raises(ExecutorError, match="has 2 trials of the task `a`"):
        ask(executor, tmp_path, trial=3)


def test_the_workspace_is_as_it_was_kept(tmp_path: Path) -> None:
    kept, workspace = tmp_path / "kept", tmp_path / "workspace"
    for file in (kept / "made" / "new.txt", workspace / "old.txt", workspace / "made" / "gone.txt"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(file.name)
    remember_workspace(kept)
    recorded(tmp_path, document(trial(workspace_dir=str(kept))))
    executor = replaying(tmp_path)
    assert executor.warnings == ()
    ask(executor, tmp_path)
    left = [path.relative_to(workspace).as_posix() for path in workspace.rglob("*") if path.is_file()]
    assert left == ["made/new.txt"]
    assert (kept / "made" / "new.txt").exists()


def test_a_workspace_that_is_gone_is_warned_about_and_the_files_stay(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "fixture.txt").write_text("x")
    recorded(tmp_path, document(trial(workspace_dir=str(tmp_path / "gone"))))
    executor = replaying(tmp_path)
    ask(executor, tmp_path)
    assert (tmp_path / "workspace" / "fixture.txt").exists()
    assert "no workspace of the recorded trials is left" in executor.warnings[0]


def test_a_recorded_workspace_around_the_trials_own_is_refused(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "fixture.txt").write_text("x")
    remember_workspace(tmp_path)
    message = refused(tmp_path, document(trial(workspace_dir=str(tmp_path))))
    assert "is no workspace of a trial" in message
    assert (tmp_path / "workspace" / "fixture.txt").exists()


def triggers() -> dict[str, Any]:
    results = [
        {"prompt": "write it", "should_trigger": True, "did_trigger": True, "final_output": "ok"},
        {"prompt": "cook it", "should_trigger": False, "did_trigger": False},
        {"prompt": "break it", "should_trigger": True, "did_trigger": False, "error_msg": "it broke"},
    ]
    return document(trial(), trigger_results=results)


def test_trigger_prompts_get_their_recorded_result(tmp_path: Path) -> None:
    recorded(tmp_path, triggers())
    executor = replaying(tmp_path)
    did = ask(executor, tmp_path, prompt="write it", task_id="", trial=0, skill="writer")
    assert (did.output, list(did.skill_invocations)) == ("ok", [SkillInvocation("writer")])
    did_not = ask(executor, tmp_path, prompt="cook it", task_id="", trial=0, skill="writer")
    assert list(did_not.skill_invocations) == []


def test_a_trigger_prompt_that_was_not_recorded_is_an_error(tmp_path: Path) -> None:
    assert refused(tmp_path, triggers(), prompt="new", task_id="") == (
        "`run.json` has no result of this trigger prompt; record it again"
    )
    assert refused(tmp_path, triggers(), prompt="break it", task_id="") == "it broke"
