"""The parts of a suite that decide a task's answers and verdicts, without the files that it names.

The cache uses it together with the executor, and so does a run of the tasks that a change affects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from waza_engine.runs.loading.suite import Suite, SuiteTask
    from waza_engine.runs.trials.trial import TrialTask

# These settings arrange a run and decide no answer.
_WITHOUT_EFFECT = {
    "parallel",
    "workers",
    "max_workers",
    "fail_fast",
    "verbose",
    "group_by",
    "trials_per_task",
}


def task_key(
    source: SuiteTask, task: TrialTask, suite: Suite, program_timeout_seconds: float
) -> dict[str, Any]:
    """Return it as JSON: equal for two suites that cannot make a difference to the task.

    ``suite`` is as the options of a run want it, and ``task`` has the graders that the run takes.
    """
    return {
        "directory": str(suite.directory),
        "trials": suite.spec.config.trials_per_task,
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
    written = suite.spec.model_dump(mode="json", exclude={"tasks", "tasks_from", "graders", "metrics"})
    config = cast("dict[str, Any]", written["config"])
    written["config"] = {key: value for key, value in config.items() if key not in _WITHOUT_EFFECT}
    return {key: value for key, value in written.items() if key not in ("description", "version", "baseline")}
