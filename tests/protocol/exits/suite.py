"""A suite whose graders start programs that are hard to end."""

from __future__ import annotations

import json
import sys
from pathlib import Path

QUICK_TASK = "quick"
PROGRAMS = ("sleeps", "own_session", "orphans", "deaf_to_terms")

_PROGRAM = """\
import os, signal, subprocess, sys, time
name = sys.argv[1]
sleep = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)", f"child-of-{name}"]
if name == "own_session":
    subprocess.Popen(sleep, start_new_session=True)
elif name == "orphans":
    if os.fork() == 0:
        os.setsid()
        subprocess.Popen(sleep, start_new_session=True)
        os._exit(0)
    os.wait()
elif name == "deaf_to_terms":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    subprocess.Popen(sleep)
open(sys.argv[2], "w").close()
time.sleep(600)
"""


def write_suite(folder: Path) -> Path:
    """Write a suite with a task for each program, and a quick one without; return the eval file."""
    (folder / "tasks").mkdir(parents=True)
    (folder / "program.py").write_text(_PROGRAM, "utf-8")
    for name in PROGRAMS:
        arguments = ["-I", "-S", str(folder / "program.py"), name, str(folder / f"{name}.started")]
        config = {"command": sys.executable, "args": arguments, "timeout": 500}
        grader = f"graders:\n  - type: program\n    name: {name}\n    config: {json.dumps(config)}\n"
        _write_task(folder, name, grader)
    _write_task(folder, QUICK_TASK, "")
    path = folder / "eval.yaml"
    path.write_text(
        "name: ends\nskill: x\n"
        "config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: m, "
        "parallel: true, workers: 5}\n"
        "tasks: [tasks/*.yaml]\n"
        "graders:\n  - type: text\n    name: speaks\n    config: {contains: [hello]}\n",
        "utf-8",
    )
    return path


def _write_task(folder: Path, name: str, graders: str) -> None:
    text = f"id: {name}\nname: {name}\ninputs: {{prompt: Say hello}}\n{graders}"
    (folder / "tasks" / f"{name}.yaml").write_text(text, "utf-8")
