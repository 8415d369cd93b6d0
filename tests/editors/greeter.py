"""A small suite with a misspelt key, and what an editor reports of a session with it."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

SERVER = (sys.executable, "-m", "waza_language_server", "--stdio")
EVAL = """\
name: greeter
description: Greets people.
skill: greeter
version: "1.0"
config:
  trials_per_task: 1
  timeout_seconds: 60
  executor: mock
  model: mock
metrics:
  - name: task_completion
    weight: 1.0
    threshold: 0.5
graders:
  - type: text
    name: says_hello
    config:
      contians: ["no such words"]
tasks:
  - tasks/*.yaml
"""
REPAIRED = EVAL.replace("contians", "contains")
TASK = """\
id: greet
name: Greet
inputs:
  prompt: Say hello to Ada.
"""


def reported(folder: Path, command: Sequence[str], environment: Mapping[str, str]) -> dict[str, Any]:
    """Write the suite into a folder, let an editor work on it there, and return what it reports.

    The editor writes JSON to the file that ``WAZA_REPORT`` names, with ``failure`` when it came to no end.
    """
    (folder / "tasks").mkdir()
    # A suite in the home folder, or above it, has no boundary that would hold its tasks.
    home = folder.with_name(f"{folder.name}-home")
    home.mkdir()
    (folder / "eval.yaml").write_text(EVAL, encoding="utf-8")
    (folder / "tasks" / "greet.yaml").write_text(TASK, encoding="utf-8")
    report = folder / "report.json"
    done = subprocess.run(
        command,
        cwd=folder,
        env={
            **os.environ,
            **environment,
            "WAZA_REPORT": str(report),
            "HOME": str(home),
            "XDG_STATE_HOME": str(folder / "state"),
            "XDG_CACHE_HOME": str(folder / "cache"),
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert report.exists(), (
        f"The editor ended with {done.returncode} and without a report:\n{done.stdout}{done.stderr}"
    )
    seen = json.loads(report.read_text(encoding="utf-8"))
    assert "failure" not in seen, f"{seen['failure']}\n{json.dumps(seen, indent=1)}\n{done.stderr}"
    return seen
