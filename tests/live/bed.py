"""A test bed: a suite, and a recorded run of it whose answers, calls and files are worth being judged."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.engine.suites import run, write_suite
from waza_engine.runs.limits.cancellation import RunCancellation
from waza_engine.runs.regrading.regrade import RegradeRequest, prepare_regrading
from waza_engine.runs.regrading.resident import ResidentSuites
from waza_engine.user_state import remember_workspace

TASK = "id: {0}\nname: {0}\ninputs: {{prompt: Say hello}}\n"
ANSWERS = (
    "Hello, the function `add` is done.\nDeployed to https://example.org/1",
    '{"status": "ok", "count": 3, "items": ["a", "b"]}',
    "I could not do it: permission denied (HTTP 403). See README.md",
    "",
    "hello WORLD, all tests passed: 12 of 12",
)
TOOLS = (("bash", "edit", "bash"), ("view",), (), ("skill", "bash", "view", "edit"))
FILE = "def new_function():\n    return {}\n"


def recorded_bed(folder: Path, graders: str, *, tasks: int = 3, trials: int = 2) -> tuple[Path, Path]:
    """Return the eval file of a suite with these graders and the result file of its run."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "schemas").mkdir()
    (folder / "schemas" / "answer.json").write_text('{"type": "object", "required": ["status"]}', "utf-8")
    (folder / "snapshots").mkdir()
    (folder / "snapshots" / "main.py").write_text(FILE.format(1), "utf-8")
    names = [f"t{number}" for number in range(tasks)]
    path = write_suite(folder, {name: TASK.format(name) for name in names}, graders=graders)
    report, _ = run(path, trials=trials)
    assert report.results_file is not None
    record = report.results_file
    document = json.loads(record.read_text("utf-8"))
    number = 0
    for task in document["tasks"]:
        for trial in task["runs"]:
            trial.update(_answered(number, folder / "workspaces" / f"{number}"))
            number += 1
    record.write_text(json.dumps(document), "utf-8")
    return path, record


def passes_by_task(
    path: Path, record: Path, grader: str, overlays: Mapping[Path, str]
) -> list[tuple[str, bool]]:
    """Return by trial, with its task, whether a grader passes, as ``waza-engine grade`` judges the texts."""
    with ResidentSuites() as suites:
        request = RegradeRequest(record, path, overlays=overlays)
        regraded = list(prepare_regrading(request, suites).grade(RunCancellation()))
    verdicts = [
        (task.recorded.id, (trial.validations or {})[grader])
        for task in regraded
        for trial in task.trials
        if grader in (trial.validations or {})
    ]
    return [
        (task, one.passed) for task, one in verdicts if one.status == "graded" and "origin" not in one.details
    ]


def _answered(number: int, workspace: Path) -> dict[str, Any]:
    """Return what the agent of a trial said, did and left behind; of every third nothing was kept."""
    tools = TOOLS[number % len(TOOLS)]
    if number % 3:
        workspace.mkdir(parents=True)
        (workspace / "main.py").write_text(FILE.format(number % 4), "utf-8")
        remember_workspace(workspace)
    events: list[dict[str, Any]] = []
    for position, tool in enumerate(tools):
        call = f"c{position}"
        arguments = {"command": f"npm test {position}", "path": "main.py", "skill": "writer"}
        events.append(
            {
                "type": "tool.execution_start",
                "tool_call_id": call,
                "tool_name": tool,
                "arguments": arguments,
            }
        )
        events.append({"type": "tool.execution_complete", "tool_call_id": call, "success": position % 2 == 0})
    answer = ANSWERS[number % len(ANSWERS)]
    events.append({"type": "assistant.message", "content": answer})
    return {
        "final_output": answer,
        "transcript": events,
        "duration_ms": 100 * number,
        "skill_invocations": [{"name": "writer", "path": ""}] if number % 2 else [],
        "usage": {"input_tokens": 50 * number, "output_tokens": 10},
        **({"workspace_dir": str(workspace)} if number % 3 else {}),
    }
