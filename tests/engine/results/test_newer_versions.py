"""Results of upstream's newer versions: what is known of them is read, and nothing else disturbs."""

from datetime import UTC, datetime
from typing import Any

import pytest

from waza_engine.results.codec.run_documents import run_of
from waza_engine.results.codec.summary_blocks import task_of
from waza_engine.results.reading.scores import task_result
from waza_engine.results.task_conclusion import conclude_task
from waza_engine.vocabulary import CommandInvocation, ToolDenial

TRIAL = {
    "run_number": 1,
    "status": "passed",
    "validations": {"a": {"identifier": "a", "type": "text", "passed": True, "score": 1}},
    "session_digest": {
        "tool_policy_mode": "allow_list",
        "tool_policy_denials": [{"tool": "bash", "kind": "shell", "reason": "not in the list"}],
    },
    "command_invocations": [{"command": "az", "args": ["status"], "exit_code": 3, "response_index": 1}],
    "final_output": "ready",
}
STATS = {"pass_rate": 1, "pass_rate_ci": {"lower": 0.2, "upper": 1, "mean": 1, "confidence_level": 0.95}}
SUMMARY = {"total_tests": 1, "statistics": {"success_rate_ci": {"lower": 0.2}, "pass_hat_k": [1]}}


@pytest.mark.parametrize("version", ["1.3", "1.4", "1.5"])
def test_a_result_file_of_a_newer_version_is_read(version: str) -> None:
    document: dict[str, Any] = {
        "schemaVersion": version,
        "eval_name": "suite",
        "evaluation_usage": {"sessions": []},
        "summary": SUMMARY,
        "tasks": [{"test_id": "t", "status": "passed", "stats": STATS, "runs": [TRIAL]}],
    }
    (task,) = run_of(document).tasks
    (trial,) = task.trials
    assert (task.status, trial.status, trial.output) == ("passed", "passed", "ready")
    assert (trial.tool_policy, trial.tool_denials) == (
        "allow_list",
        (ToolDenial("bash", "shell", "not in the list"),),
    )
    assert trial.command_invocations == (CommandInvocation("az", ("status",), 3, 1),)


def test_a_task_without_figures_is_worth_what_its_graders_gave() -> None:
    verdicts = {
        name: {"type": "text", "passed": True, "score": score} for name, score in (("a", 1), ("b", 0.5))
    }
    waiting = {"w": {"type": "human", "passed": False, "score": 0, "status": "pending"}}
    runs = [{"run_number": 1, "status": "passed", "validations": {**verdicts, **waiting}}]
    task = {"test_id": "t", "status": "passed", "runs": runs}
    (read,) = run_of({"schemaVersion": "1.4", "tasks": [task]}).tasks
    assert conclude_task(read).score == 0.75
    assert task_result(task_of(task), datetime.now(UTC)).score == 0.75
