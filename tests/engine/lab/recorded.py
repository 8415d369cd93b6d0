"""A suite with a record that an agent could have left, and the strength of its graders."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.engine.suites import CONFIG, task, write_suite
from waza_engine.commands.strength import measure_graders
from waza_engine.lab.measuring import GraderStrength
from waza_engine.results.result_file_names import results_directory
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.regrading.regrade import RegradeRequest, prepare_regrading
from waza_engine.runs.regrading.resident import ResidentSuites

Trial = Mapping[str, Any]


def trial(output: str, *tools: str, passed: Mapping[str, bool] | None = None) -> Trial:
    """Return a recorded trial that answered this and called these tools; ``passed`` is what graders said."""
    calls = [
        {"name": name, "arguments": {"command": f"{name} --all"}, "id": str(number), "success": True}
        for number, name in enumerate(tools)
    ]
    verdicts = {
        name: {"identifier": name, "type": "text", "score": float(good), "passed": good}
        for name, good in (passed or {}).items()
    }
    return {
        "status": "passed",
        "duration_ms": 4_200,
        "final_output": output,
        "session_digest": {"tool_calls": calls, "usage": {"turns": 3, "input_tokens": 900}},
        "transcript": [
            {"type": "user.message", "content": "Deploy it"},
            {"type": "assistant.message", "content": output},
        ],
        "validations": verdicts,
    }


def record(
    directory: Path, tasks: Mapping[str, Sequence[Trial]], graders: str, executor: str = "copilot-sdk"
) -> Path:
    """Write a suite whose graders hold for all tasks, and its newest result file; return the eval file."""
    return write_record(
        write_suite(directory, {name: task(name) for name in tasks}, graders=graders, config=CONFIG),
        tasks,
        executor,
    )


def write_record(suite: Path, tasks: Mapping[str, Sequence[Trial]], executor: str = "copilot-sdk") -> Path:
    """Write the newest result file of a suite; return the eval file."""
    document = {
        "schemaVersion": "1.0",
        "eval_name": "suite",
        "timestamp": "2026-11-01T10:00:00Z",
        "config": {"executor": executor, "model": "some-model"},
        "tasks": [
            {"test_id": name, "display_name": name, "status": "passed", "runs": list(trials)}
            for name, trials in tasks.items()
        ],
    }
    folder = results_directory(suite.parent)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "20261101T100000Z-aaaaaa.json").write_text(json.dumps(document), "utf-8")
    return suite


def strengths(suite: Path) -> dict[str, GraderStrength]:
    """Return the strength of each grader of a suite, measured with its newest record."""
    (found,) = results_directory(suite.parent).glob("*.json")
    cancellation = RunCancellation()
    with ResidentSuites() as suites:
        regrading = prepare_regrading(RegradeRequest(found, suite), suites)
        return {each.name: each for each in measure_graders(regrading, cancellation)}
