"""The requirements of a task, and whether the graders that are to check them exist."""

from __future__ import annotations

from collections import Counter
from typing import Any

from waza_engine.runs.loading.suite import Suite, SuiteTask
from waza_engine.runs.preflight.finding import Finding, State
from waza_engine.spec.task_file import Requirement, TaskFile

_COVERED = "Graders check it; only a run shows if it is met."
_UNCOVERED = "No grader checks it."
_BROKEN = "It names a grader that does not exist."


def planned_requirements(suite: Suite, task: SuiteTask) -> tuple[list[dict[str, Any]], list[Finding]]:
    """Return the requirements as upstream's document has them, and their errors."""
    planned: list[dict[str, Any]] = []
    found: list[Finding] = []
    if task.task is None:
        return planned, found
    ids = Counter(requirement.id for requirement in task.task.requirements)
    faults = {name: f"the id `{name}` is of {count} requirements" for name, count in ids.items() if count > 1}
    for requirement in task.task.requirements:
        if any(check.scope != "checkpoint" and check.after_turn is not None for check in requirement.checks):
            what = f"the requirement `{requirement.id}` has `after_turn` outside of a checkpoint"
            faults[requirement.id + ".after_turn"] = what
    for fault in faults.values():
        remedy = "correct the requirement"
        found.append(Finding("requirement.configuration", "invalid", str(task.path), fault, remedy, task.id))
    for requirement in task.task.requirements:
        missing = _missing(suite, task.task, requirement)
        state: State = "invalid" if missing else "verified" if requirement.checks else "unresolved"
        planned.append(
            {
                "id": requirement.id,
                "category": requirement.category,
                "description": requirement.description,
                "state": state,
                "meaning": _BROKEN if missing else _COVERED if requirement.checks else _UNCOVERED,
                **({"checks": [_check(check) for check in requirement.checks]} if requirement.checks else {}),
            }
        )
        if state != "verified":
            names = ", ".join(f"`{name}`" for name in missing)
            message = f"names {names}, but no grader has this name" if missing else "is checked by no grader"
            found.append(
                Finding(
                    "requirement.check" if missing else "requirement.uncovered",
                    "invalid" if missing else "unresolved",
                    str(task.path),
                    f"the requirement `{requirement.id}` {message}",
                    "correct its `checks`",
                    task.id,
                )
            )
    return planned, found


def _missing(suite: Suite, task: TaskFile, requirement: Requirement) -> list[str]:
    graders = {
        "eval": {entry.name for entry in suite.spec.graders},
        "task": {entry.name for entry in task.graders},
        "checkpoint": {entry.name for point in task.checkpoints for entry in point.graders},
    }
    return [
        check.grader for check in requirement.checks if check.grader not in graders.get(check.scope, set())
    ]


def _check(check: Any) -> dict[str, Any]:
    turn = {} if check.after_turn is None else {"after_turn": check.after_turn}
    return {"scope": check.scope, "grader": check.grader, **turn}
