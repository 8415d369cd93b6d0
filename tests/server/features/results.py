"""Result files for the tests, in upstream's layout."""

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

RUN_AT = datetime(2026, 7, 1, 12, 0, 0, tzinfo=UTC)
NOW = RUN_AT + timedelta(minutes=5)


def grade(
    name: str,
    score: float,
    feedback: str = "",
    checks: list[tuple[list[str | int], bool, str]] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Return one grader's part of a trial."""
    found = [{"path": path, "passed": passed, "message": message} for path, passed, message in checks or []]
    return {
        "identifier": name,
        "type": "text",
        "score": score,
        "weight": 1.0,
        "passed": score == 1.0,
        "feedback": feedback,
        **({"checks": found} if found else {}),
        "duration_ms": 1,
        **more,
    }


def write_results(
    suite: Path,
    tasks: dict[str, list[list[dict[str, Any]]]],
    *,
    at: datetime = RUN_AT,
    model: str = "",
    more: Mapping[str, Any] = MappingProxyType({}),
) -> Path:
    """Write a run in which each task had trials of graders, and date the suite's files before it."""
    # A mock asks no model.
    executor = "copilot-sdk" if model else "mock"
    document = {
        "schemaVersion": "1.2",
        "eval_id": "run-1",
        "skill": "my-skill",
        "eval_name": "my-eval",
        "timestamp": at.isoformat(),
        "config": {"runs_per_test": 1, "model_id": model, "engine_type": executor, "timeout_sec": 60},
        "summary": {"total_tests": len(tasks), "succeeded": 0, "failed": 0, "errors": 0, "skipped": 0},
        "metrics": {},
        **more,
        "tasks": [_task(task, trials) for task, trials in tasks.items()],
    }
    folder = suite.parent / ".waza" / "results"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{at:%Y%m%dT%H%M%SZ}-abc.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    for file in suite.parent.rglob("*.yaml"):
        date(file, at - timedelta(hours=1))
    return path


def date(path: Path, at: datetime) -> None:
    """Give a file a time stamp."""
    os.utime(path, (at.timestamp(), at.timestamp()))


def _task(task: str, trials: list[list[dict[str, Any]]]) -> dict[str, Any]:
    runs = [
        {
            "run_number": number,
            "attempts": 1,
            "status": "passed" if all(grader["passed"] for grader in graders) else "failed",
            "duration_ms": 5,
            "validations": {grader["identifier"]: grader for grader in graders},
            "session_digest": {"tool_call_count": 0, "tools_used": [], "errors": []},
            "final_output": "",
        }
        for number, graders in enumerate(trials, 1)
    ]
    status = "passed" if all(run["status"] == "passed" for run in runs) else "failed"
    scores = [grader["score"] for graders in trials for grader in graders]
    stats = {"avg_score": sum(scores) / len(scores) if scores else 0.0}
    return {"test_id": task, "display_name": task, "status": status, "runs": runs, "stats": stats}
