"""``waza-engine list``: the suites below a directory and their tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from waza_engine.counting import counted
from waza_engine.runs.loading.discovery import eval_files, foreign_eval_files
from waza_engine.runs.loading.suite_on_disk import SuiteError, load_suite
from waza_engine.spec.problems import SuiteFileError
from waza_engine.terminal import complain, say, say_json

LISTED, NOTHING_LISTED = 0, 2


def list_command(directory: Path, *, as_json: bool) -> int:
    """Print every suite with its tasks; for one that cannot be used, why. Return the exit code.

    An eval file of another tool is no suite: what it is goes to standard error.
    """
    if not directory.is_dir():
        complain(f"There is no directory {directory}.")
        return NOTHING_LISTED
    suites = [_suite(path) for path in eval_files(directory)]
    foreign = [str(error) for error in foreign_eval_files([directory])]
    if as_json:
        say_json({"suites": suites})
        return LISTED
    for sentence in foreign:
        complain(sentence)
    if not suites and not foreign:
        complain(f"There is no eval.yaml below {directory.absolute()}.")
        return LISTED
    for suite in suites:
        count = len(suite["tasks"])
        summary = suite.get("error") or f"{suite['name']}, {counted(count, 'task')}"
        say(f"{suite['path']}  {summary}")
        for task in suite["tasks"]:
            name = "" if task["name"] == task["id"] else f"  {task['name']}"
            say(f"  {task['id']}{name}{'  (cannot be used)' if 'error' in task else ''}")
    return LISTED


def _suite(path: Path) -> dict[str, Any]:
    try:
        suite = load_suite(path)
    except (SuiteFileError, SuiteError) as error:
        return {"path": str(path), "name": "", "skill": "", "tasks": [], "error": str(error)}
    return {
        "path": str(path),
        "name": suite.spec.name,
        "skill": suite.spec.skill,
        "executor": suite.spec.config.executor,
        "graders": list(suite.grader_names),
        "tasks": [
            {
                "id": task.id,
                "name": task.name,
                "path": str(task.path),
                **({"error": task.error} if task.error else {}),
            }
            for task in suite.tasks
        ],
    }
