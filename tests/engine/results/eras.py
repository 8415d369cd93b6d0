"""Result files as each version of upstream writes them, small and by hand.

All of them tell of one suite with the tasks ``good``, ``shaky`` and ``broken``: the first passes, the second
passes in one of two trials, the third never gets an answer.
"""

from typing import Any

Json = dict[str, Any]
HELLO = "hello from the agent"


def go_march() -> Json:
    """A file of 0.9: no skipped tasks in the summary, few figures a task, no invocations of skills."""
    return {
        "eval_id": "run-1772668800",
        "skill": "greeter",
        "eval_name": "greeter-eval",
        "timestamp": "2026-03-05T00:00:00.123456789Z",
        "config": {"runs_per_test": 2, "model_id": "m1", "engine_type": "copilot-sdk", "timeout_sec": 60},
        "summary": {
            "total_tests": 3,
            "succeeded": 1,
            "failed": 1,
            "errors": 1,
            "success_rate": 0.3333333333333333,
            "aggregate_score": 0.5833333333333334,
            "weighted_score": 0.5833333333333334,
            "min_score": 0,
            "max_score": 1,
            "std_dev": 0.42,
            "duration_ms": 5000,
        },
        "metrics": {},
        "tasks": [
            _go_task("good", "passed", 1, 1, [_go_run(1, 1), _go_run(2, 1)]),
            _go_task("shaky", "failed", 0.75, 0.5, [_go_run(1, 1), _go_run(2, 0.5)]),
            _go_task("broken", "error", 0, 0, [_go_broken(1), _go_broken(2)]),
        ],
    }


def go_summer() -> Json:
    """A file of 0.25: counts of trials, skipped tasks, invoked skills, triggers, a group, intervals."""
    document = go_march()
    document["summary"] |= {
        "skipped": 0,
        "groups": [{"name": "basic", "passed": 1, "total": 3, "avg_score": 0.5833333333333334}],
        "usage": {**_USAGE, "turns": 8},
        "statistics": {"bootstrap_ci": _INTERVAL, "is_significant": True},
    }
    document["metrics"] = {
        "trigger_accuracy": {
            "identifier": "trigger_accuracy",
            "value": 1,
            "threshold": 0.9,
            "passed": True,
            "weight": 1,
        }
    }
    for task in document["tasks"]:
        task["group"] = "basic"
        task["stats"] |= {
            "passed_runs": 1,
            "failed_runs": 1,
            "error_runs": 0,
            "total_runs": 2,
            "bootstrap_ci": _INTERVAL,
            "is_significant": False,
        }
        for run in task["runs"]:
            if run["status"] != "error":
                run["skill_invocations"] = [{"name": "greeter", "path": "skills/greeter"}]
                run["session_digest"]["usage"] = dict(_USAGE)
    document["trigger_metrics"] = {
        **dict.fromkeys(("true_positives", "true_negatives"), 1),
        **dict.fromkeys(("false_positives", "false_negatives"), 0),
        **dict.fromkeys(("precision", "recall", "f1", "accuracy"), 1),
    }
    document["trigger_results"] = [
        {"prompt": "Greet me", "confidence": "high", "should_trigger": True, "did_trigger": True},
        {"prompt": "Add 1 and 1", "should_trigger": False, "did_trigger": False},
    ]
    return document


def go_newest() -> Json:
    """A file of 0.38: a format version, complete tool calls, artefacts, checkpoints, a baseline."""
    document: Json = {"schemaVersion": "1.2", **go_summer()}
    for task in document["tasks"]:
        for run in task["runs"]:
            run["usage"] = {**_USAGE, "provider": "custom", "provider_host": "models.example"}
            if run["status"] == "error":
                continue
            run["tool_events"] = [
                {
                    "turn": 1,
                    "sequence": 1,
                    "tool_call_id": "c1",
                    "tool_name": "bash",
                    "args": {"command": "ls", "cwd": "src"},
                    "result": {"content": "a.py"},
                    "success": True,
                    "duration_ms": 12,
                }
            ]
            run["checkpoints"] = [{"after_turn": 1, "status": "passed", "validations": {}}]
            if run["status"] == "failed":
                run["failure_artifacts"] = {
                    "stdout": HELLO,
                    "exit_code": 1,
                    "failed_graders": ["greets"],
                    "triage_summary": "## failed",
                    "captured_at": "2026-09-01T00:00:00Z",
                    "context": {"stdout_truncated": "false", "stderr_truncated": "false"},
                }
    document["tasks"][0]["golden"] = True
    document["baseline_outcome"] = {"schemaVersion": "1.2", **go_march(), "is_baseline": True}
    return document


def go_sparse() -> Json:
    """A file whose lists and objects are null or absent, as a typed writer leaves empty ones."""
    return {
        "eval_id": "run-1",
        "skill": "",
        "eval_name": "greeter-eval",
        "timestamp": "2026-03-05T00:00:00Z",
        "config": {"runs_per_test": 1, "model_id": "", "engine_type": "mock", "timeout_sec": 0},
        "summary": {"total_tests": 3},
        "metrics": None,
        "tasks": [
            {"test_id": "good", "display_name": "Good", "status": "passed", "runs": None, "stats": None},
            {"test_id": "shaky", "display_name": "Shaky", "status": "failed", "runs": []},
            {
                "test_id": "broken",
                "display_name": "Broken",
                "status": "error",
                "runs": [
                    {
                        "run_number": 1,
                        "attempts": 1,
                        "status": "error",
                        "duration_ms": 0,
                        "validations": None,
                        "session_digest": {"tool_call_count": 0, "tools_used": None, "errors": None},
                        "transcript": None,
                        "final_output": "",
                        "error_msg": "the agent did not start",
                    }
                ],
            },
        ],
        "trigger_results": None,
        "metadata": None,
    }


def python_era() -> Json:
    """A file of the first version, written in Python."""
    return {
        "eval_id": "greeter-eval-20260101-120000-0a1b2c3d",
        "skill": "greeter",
        "eval_name": "greeter-eval",
        "timestamp": "2026-01-01T12:00:00",
        "config": {"trials_per_task": 2, "model": "m1", "executor": "copilot-sdk", "timeout_seconds": 60},
        "summary": {
            "total_tasks": 3,
            "passed": 1,
            "failed": 0,
            "errors": 1,
            "skipped": 0,
            "pass_rate": 0.3333333333333333,
            "composite_score": 0.5833333333333334,
            "duration_ms": 5000,
        },
        "metrics": {
            "task_completion": {
                "name": "task_completion",
                "score": 0.58,
                "threshold": 0.8,
                "passed": False,
                "weight": 1.0,
                "details": {},
            }
        },
        "tasks": [
            _python_task("good", "passed", 1.0, [_python_trial(1, 1.0), _python_trial(2, 1.0)]),
            _python_task("shaky", "partial", 0.75, [_python_trial(1, 1.0), _python_trial(2, 0.5)]),
            _python_task("broken", "error", 0.0, [_python_broken(1), _python_broken(2)]),
        ],
        "metadata": {},
    }


SAMPLES = {
    "0.9": go_march,
    "0.25": go_summer,
    "0.38": go_newest,
    "sparse": go_sparse,
    "python": python_era,
}

_INTERVAL = {"lower": 0.5, "upper": 1, "mean": 0.75, "confidence_level": 0.95, "num_bootstraps": 10000}
_USAGE = {
    "turns": 2,
    "input_tokens": 100,
    "output_tokens": 50,
    "cache_read_tokens": 0,
    "cache_write_tokens": 0,
    "premium_requests": 1,
    "model_metrics": {
        "m1": {
            "input_tokens": 100,
            "output_tokens": 50,
            "cache_read_tokens": 0,
            "cache_write_tokens": 0,
            "request_count": 2,
            "request_cost": 1,
        }
    },
}


def _go_task(name: str, status: str, score: float, rate: float, runs: list[Json]) -> Json:
    return {
        "test_id": name,
        "display_name": name.title(),
        "status": status,
        "runs": runs,
        "stats": {
            "pass_rate": rate,
            "flakiness_percent": 50 if 0 < rate < 1 else 0,
            **dict.fromkeys(("avg_score", "avg_weighted_score", "min_score", "max_score"), score),
            **dict.fromkeys(("std_dev_score", "score_variance"), 0),
            **dict.fromkeys(("ci95_lo", "ci95_hi"), score),
            "flaky": 0 < rate < 1,
            "avg_duration_ms": 1200,
        },
    }


def _go_run(number: int, score: float) -> Json:
    return {
        "run_number": number,
        "attempts": 1,
        "status": "passed" if score == 1 else "failed",
        "duration_ms": 1200,
        "validations": {
            "greets": {
                "identifier": "greets",
                "type": "text",
                "score": score,
                "weight": 1,
                "passed": score == 1,
                "feedback": "All checks passed" if score == 1 else "goodbye is missing",
                "details": {"checks_passed": 1},
                "duration_ms": 0,
            }
        },
        "session_digest": {
            "tool_call_count": 1,
            "tools_used": ["bash"],
            "tool_calls": [
                {
                    "name": "bash",
                    "arguments": {
                        **dict.fromkeys(("path", "file_text", "description", "skill"), ""),
                        "command": "ls",
                    },
                    "result": {"content": "a.py"},
                    "success": True,
                }
            ],
            "errors": [],
            "session_id": f"s{number}",
        },
        "transcript": [
            {"type": "user.message", "content": "Greet me"},
            {
                "type": "tool.execution_start",
                "tool_call_id": "c1",
                "tool_name": "bash",
                "arguments": {"command": "ls"},
            },
            {
                "type": "tool.execution_complete",
                "tool_call_id": "c1",
                "tool_result": {"content": "a.py"},
                "success": True,
            },
            {"type": "assistant.message", "content": HELLO},
        ],
        "final_output": HELLO,
    }


def _go_broken(number: int) -> Json:
    return {
        "run_number": number,
        "attempts": 1,
        "status": "error",
        "duration_ms": 0,
        "validations": None,
        "session_digest": {"tool_call_count": 0, "tools_used": None, "errors": None},
        "final_output": "",
        "error_msg": "the agent did not start",
    }


def _python_task(name: str, status: str, score: float, trials: list[Json]) -> Json:
    return {
        "id": name,
        "name": name.title(),
        "status": status,
        "trials": trials,
        "aggregate": {
            "pass_rate": score if score in (0, 1) else 0.5,
            "mean_score": score,
            "min_score": score,
            "max_score": score,
            "mean_duration_ms": 1200,
        },
    }


def _python_trial(number: int, score: float) -> Json:
    return {
        "trial_id": number,
        "status": "passed" if score == 1 else "failed",
        "duration_ms": 1200,
        "grader_results": {
            "greets": {
                "name": "greets",
                "type": "code",
                "score": score,
                "passed": score == 1,
                "message": "All checks passed" if score == 1 else "goodbye is missing",
                "details": {},
                "duration_ms": 0,
            }
        },
        "transcript_summary": {
            "total_turns": 2,
            "tool_calls": 1,
            "tokens_input": 100,
            "tokens_output": 50,
            "tokens_total": 150,
            "tools_used": ["bash"],
            "errors": [],
        },
        "output": HELLO,
        "error": None,
    }


def _python_broken(number: int) -> Json:
    return {
        "trial_id": number,
        "status": "timeout",
        "duration_ms": 60000,
        "grader_results": {},
        "transcript_summary": None,
        "output": "",
        "error": "the agent did not start",
    }
