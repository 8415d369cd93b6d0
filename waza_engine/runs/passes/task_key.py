"""The parts of a suite that decide a task's answers and verdicts, without the files that it names.

The cache uses it together with the executor, and so does a run of the tasks that a change affects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from waza_engine.results.freshness import deciding_values

if TYPE_CHECKING:
    from waza_engine.runs.loading.suite import Suite, SuiteTask
    from waza_engine.runs.trials.trial import TrialTask


def task_key(
    source: SuiteTask, task: TrialTask, suite: Suite, program_timeout_seconds: float
) -> dict[str, Any]:
    """Return it as JSON: equal for two suites that cannot make a difference to the task.

    ``suite`` is as the options of a run want it, and ``task`` has the graders that the run takes.
    """
    return {
        "directory": str(suite.directory),
        "suite": suite_key(suite),
        "task": task.spec.model_dump(mode="json"),
        "task_id": source.id,
        "task_name": source.name,
        "graders": [[built.name, built.entry.model_dump(mode="json")] for built in task.graders],
        "expected": [task.grade_expected, list(task.expected_names)],
        "program_timeout": program_timeout_seconds,
    }


def suite_key(suite: Suite) -> dict[str, Any]:
    """Return the suite's definition, without its tasks and settings that decide no answer."""
    return deciding_values(suite.spec.model_dump(mode="json", exclude={"tasks", "graders", "metrics"}))
