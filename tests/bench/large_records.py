"""How long the marks of an eval file take when its newest record is large, and the memory that takes.

``python -m tests.bench.large_records [TASKS] [GRADERS] [MEGABYTES]`` writes a suite and a record of that size
(300 tasks, 103 graders, 42 MB), and looks at the eval file in a process of its own, as the server does when
it is opened.
"""

from __future__ import annotations

import gc
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

STARTED = "2026-07-01T12:00:00+00:00"
PASSES = 7
"""Of so many tasks one fails a grader."""


def main(tasks: int = 300, graders: int = 103, megabytes: int = 42) -> None:
    """Write the suite and print what it costs to look at it."""
    with tempfile.TemporaryDirectory() as directory:
        suite = write_large_suite(Path(directory), tasks, graders, megabytes)
        subprocess.run(
            [sys.executable, "-m", __spec__.name if __spec__ else __name__, str(suite)], check=True
        )


def write_large_suite(folder: Path, tasks: int, graders: int, megabytes: int) -> Path:
    """Write a suite whose tasks are inline, and its record; return the eval file."""
    names = [f"grader_{number}" for number in range(graders)]
    listed = "".join(
        f"  - type: text\n    name: {name}\n    config:\n      contains: [hello, world {name}]\n"
        for name in names
    )
    inline = "".join(f"  - {{id: t{number}, inputs: {{prompt: Say hello}}}}\n" for number in range(tasks))
    suite = folder / "eval.yaml"
    suite.write_text(
        "name: large\nskill: greeter\n"
        "config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}\n"
        f"graders:\n{listed}tasks:\n{inline}",
        "utf-8",
    )
    bare = [_task(number, names, "") for number in range(tasks)]
    missing = megabytes * 1_000_000 - len(json.dumps(bare, indent=2))
    answer = "word " * max(0, missing // (5 * tasks))
    document = {
        "schemaVersion": "1.2",
        "eval_id": "run-1",
        "skill": "greeter",
        "eval_name": "large",
        "timestamp": STARTED,
        "config": {"runs_per_test": 1, "model_id": "none", "engine_type": "mock", "timeout_sec": 60},
        "summary": {"total_tests": tasks, "succeeded": 0, "failed": 0, "errors": 0, "skipped": 0},
        "metrics": {},
        "metadata": {"engine": {"eval_file": "eval.yaml", "status": "failed"}},
        "tasks": [_task(number, names, answer) for number in range(tasks)],
    }
    record = folder / ".waza" / "results" / "20260701T120000Z-abc.json"
    record.parent.mkdir(parents=True)
    record.write_text(json.dumps(document, indent=2), "utf-8")
    return suite


def look(suite: Path) -> None:
    """Print the processor time until an eval file has its marks, twice, and the memory that takes."""
    from tests.server.project.files import opened, workspace_with
    from waza_engine.steps import finished
    from waza_language_server.features.scores.line_marks import marks_in_steps

    gc.disable()  # as in the server
    size = sum(path.stat().st_size for path in (suite.parent / ".waza").rglob("*.json")) / 1e6
    document = opened(suite, "eval")
    workspace = workspace_with(document, roots=(suite.parent,))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    spent: list[float] = []
    found = 0
    for _ in range(2):
        started = time.process_time()
        found = len(finished(marks_in_steps(document, workspace)))
        spent.append(time.process_time() - started)
    most = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024 * 1.048576
    print(  # noqa: T201
        f"{size:.0f} MB: {found} marks after {spent[0]:.2f} s, again {spent[1]:.2f} s; "
        f"{most:.0f} MB, {most - size:.0f} MB more than the file"
    )


def _task(number: int, graders: list[str], answer: str) -> dict[str, Any]:
    failed = number % PASSES == 0
    verdicts = {
        name: {
            "identifier": name,
            "type": "text",
            "score": 0.5 if failed and at == 0 else 1.0,
            "weight": 1.0,
            "passed": not (failed and at == 0),
            "feedback": f"missing text: world {name}" if failed and at == 0 else "All checks passed",
            "details": {"checked": ["hello", f"world {name}"], "matched": 2, "mode": "contains"},
            "checks": [
                {"path": ["contains", 0], "passed": True, "rule": "hello"},
                {"path": ["contains", 1], "passed": not (failed and at == 0), "message": "", "rule": "world"},
            ],
            "duration_ms": 1,
        }
        for at, name in enumerate(graders)
    }
    run = {
        "run_number": 1,
        "attempts": 1,
        "status": "failed" if failed else "passed",
        "duration_ms": 5,
        "validations": verdicts,
        "session_digest": {"tool_call_count": 0, "tools_used": [], "errors": []},
        "transcript": [{"type": "assistant.message", "content": answer}],
        "final_output": "",
    }
    return {
        "test_id": f"t{number}",
        "display_name": f"t{number}",
        "status": run["status"],
        "runs": [run],
        "stats": {"avg_score": 1.0},
    }


if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1].endswith(".yaml"):
        look(Path(sys.argv[1]))
    else:
        main(*(int(argument) for argument in sys.argv[1:]))
