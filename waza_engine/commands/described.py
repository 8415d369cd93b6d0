"""A suite and a task in the terms of upstream's JSON-RPC methods.

Its names differ from those in the files: ``inputs`` is ``stimulus``, ``graders`` are ``validators``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from waza_engine.results.json_values import given
from waza_engine.runs.loading.suite import Suite, SuiteTask
from waza_engine.spec.grader_entry import GraderEntry
from waza_engine.spec.task_file import TaskFile

Answer = dict[str, Any]
_CONFIG_NAMES = {
    "skill_directories": "skill_paths",
    "required_skills": "required_skills",
    "disabled_skills": "disabled_skills",
    "mcp_servers": "server_configs",
    "max_attempts": "max_attempts",
    "workers": "workers",
    "judge_model": "judge_model",
    "fail_fast": "stop_on_error",
    "group_by": "group_by",
}
_INPUT_NAMES = {"prompt": "message", "context": "metadata", "files": "resources"}
_FILE_NAMES = {"path": "location", "content": "body"}
_EXPECTED_NAMES = {
    "outcomes": "outcome_specs",
    "tool_calls": "tool_patterns",
    "behavior": "behavior_rules",
    "output_contains": "must_include",
    "output_not_contains": "must_exclude",
    "should_trigger": "expected_trigger",
}


def described_suite(suite: Suite) -> Answer:
    """Return a suite; ``tasks`` are its patterns, and the ids of inline tasks."""
    spec = suite.spec
    config = spec.config.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return {
        "name": spec.name,
        **given(description=spec.description, skill=spec.skill),
        "config": {
            "runs_per_test": spec.config.trials_per_task,
            "timeout_sec": spec.config.timeout_seconds,
            "concurrent": spec.config.parallel,
            "engine_type": spec.config.executor,
            "model_id": spec.config.model,
            **{name: config[key] for key, name in _CONFIG_NAMES.items() if config.get(key)},
        },
        "tasks": [task if isinstance(task, str) else str(getattr(task, "id", "")) for task in spec.tasks],
        **given(tasks_from=spec.tasks_from),
        "graders": [{"name": entry.name, "type": entry.type} for entry in spec.graders],
    }


def described_task(task: SuiteTask, found: TaskFile) -> Answer:
    """Return a task under upstream's names, and also its keys as in the file."""
    written: Answer = found.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    inputs: Answer = written.get("inputs") or {}
    stimulus = _renamed(inputs, _INPUT_NAMES)
    if "resources" in stimulus:
        stimulus["resources"] = [
            {"location": file} if isinstance(file, str) else _renamed(file, _FILE_NAMES)
            for file in cast("list[Any]", stimulus["resources"])
        ]
    return {
        **written,
        "id": task.id,
        "name": task.name,
        "path": str(task.path),
        "test_id": task.id,
        "display_name": task.name,
        **({} if found.enabled else {"active": False}),
        **given(
            summary=found.description,
            labels=list(found.tags),
            context_root=found.context_dir,
            timeout_sec=found.timeout_seconds,
            expectation=_renamed(written.get("expected") or {}, _EXPECTED_NAMES),
            validators=[_validator(entry) for entry in found.graders],
        ),
        "stimulus": {"message": "", **stimulus},
    }


def _validator(entry: GraderEntry) -> Answer:
    config = cast("Answer", entry.model_dump(mode="json").get("config") or {})
    return {"identifier": entry.name, **given(kind=entry.type, weight=entry.weight, parameters=config)}


def _renamed(block: Mapping[str, Any], names: Mapping[str, str]) -> Answer:
    return {names.get(key, key): value for key, value in block.items()}
