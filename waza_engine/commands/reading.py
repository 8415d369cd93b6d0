"""The methods that read: suites, tasks, records, grader types, prices, estimates. Nothing is run."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar, cast

from waza_engine.commands.parameters import (
    EVAL_NOT_FOUND,
    VALIDATION_FAILED,
    Params,
    count_param,
    only_known,
    optional_text,
    path_param,
    refused,
    run_settings,
    single_param,
    text_param,
)
from waza_engine.files import is_named
from waza_engine.json_rpc import INTERNAL_ERROR, INVALID_PARAMS
from waza_engine.results.json_values import nonempty
from waza_engine.results.reading.recordings import RecordingError
from waza_engine.runs.loading.discovery import eval_file_of, eval_files
from waza_engine.runs.loading.suite_on_disk import Suite, SuiteError, SuiteTask, load_suite
from waza_engine.runs.trials.selection import select
from waza_engine.runs.trials.triggers import trigger_tests_of
from waza_engine.spec.grader_entry import GraderEntry
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.task_file import TaskFile

Answer = dict[str, Any]
DEFAULT_RUNS = 10
LoadedT = TypeVar("LoadedT")


def estimate(params: Params) -> Answer:
    """Return the estimated cost and duration of ``eval.run`` with these parameters, in all and by task."""
    from waza_engine.runs.choosing import estimate_run

    settings = run_settings(params, eval_path)
    found = loaded(lambda: estimate_run(settings))
    return {**asdict(found.run), "tasks": {name: asdict(one) for name, one in found.tasks.items()}}


def affected(params: Params) -> Answer:
    """Return the tasks of ``eval.run`` with these parameters that changed since their newest results."""
    from waza_engine.runs.choosing import choose_tasks
    from waza_engine.runs.passes.affected import outdated_tasks

    settings = run_settings(params, eval_path)
    choice = loaded(lambda: choose_tasks(settings))
    found = outdated_tasks(choice.suite, choice.tasks, settings, choice.build)
    return {"tasks": [task.source.id for task in found], "of": len(choice.tasks)}


def list_evals(params: Params) -> Answer:
    """Return the suites below a folder; for one that cannot be loaded, its path."""
    root = path_param(params, "dir")
    if not root.is_dir():
        raise refused(f"There is no directory {root}.", INVALID_PARAMS)
    return {"evals": [_listed_eval(path) for path in eval_files(root)]}


def _listed_eval(path: Path) -> Answer:
    try:
        suite = load_suite(path)
    except (SuiteFileError, SuiteError):
        return {"path": str(path), "name": str(path)}
    skill = {"skill": suite.spec.skill} if suite.spec.skill else {}
    return {"path": str(path), "name": suite.spec.name or str(path), **skill}


def get_eval(params: Params) -> Answer:
    """Describe a suite."""
    return described_suite(_suite(params))


def validate_eval(params: Params) -> Answer:
    """Return the problems that would stop a run of a suite."""
    path = eval_path(params, "path")
    errors: list[str] = []
    try:
        suite = load_suite(path, lenient=False)
        errors += [task.error for task in suite.tasks if task.error]
        chosen, _ = select(suite, (), ())
        for task in chosen:
            if task.trial is not None:
                errors += [f"{task.source.path}: {g.name}: {g.error}" for g in task.trial.graders if g.error]
        trigger_tests_of(suite)
    except (SuiteFileError, SuiteError) as error:
        errors.append(str(error))
    unique = list(dict.fromkeys(errors))
    return {"valid": not unique, **({"errors": unique} if unique else {})}


def list_tasks(params: Params) -> Answer:
    """Return the tasks of a suite, including disabled ones."""
    return {"tasks": [{"id": task.id, "name": task.name} for task in _suite(params).tasks]}


def get_task(params: Params) -> Answer:
    """Describe one task of a suite."""
    suite, wanted = _suite(params), text_param(params, "task_id")
    task = next((task for task in suite.tasks if task.id == wanted), None)
    if task is None:
        raise refused(f"The suite has no task {wanted}.", INVALID_PARAMS)
    if task.task is None:
        raise refused(task.error, VALIDATION_FAILED)
    return described_task(task, task.task)


def result_page(params: Params) -> Answer:
    """Return the newest run of a suite, or a result file, as Markdown; ``task`` limits it to one.

    With ``since``, an earlier result file, it shows the changes from that one to the result file.
    """
    from waza_engine.commands.result_page import changed_page, recorded_page

    only_known(params, ("path", "task", "suite", "since"))
    path, task = path_param(params, "path"), optional_text(params, "task")
    if params.get("since") is not None:
        since = path_param(params, "since")
        return loaded(lambda: changed_page(path, since, task))
    suite = None if params.get("suite") is None else path_param(params, "suite")
    return loaded(lambda: recorded_page(path, task, suite))


def result_runs(params: Params) -> Answer:
    """Return the recorded runs of a suite, of those that had ``task``, the newest first."""
    from waza_engine.commands.result_page import recorded_runs

    only_known(params, ("path", "task"))
    return {"runs": recorded_runs(path_param(params, "path"), optional_text(params, "task"))}


def result_history(params: Params) -> Answer:
    """Return the ``last`` runs of a suite, and each task over them, as ``waza-engine history`` does."""
    from waza_engine.results.reading.history import history_of
    from waza_engine.results.reports.trend import trend

    only_known(params, ("path", "last"))
    runs = history_of(eval_path(params, "path")).runs
    return trend(runs[-(count_param(params, "last") or DEFAULT_RUNS) :])


def model_prices(params: Params) -> Answer:
    """Return the list prices of the models that suites use most, or with ``name`` that of one."""
    from waza_engine.scoring.cost import listed_models, prices_of

    only_known(params, ("name",))
    named = single_param(params, "name")
    return {"models": [asdict(price) for price in (prices_of(named) if named else listed_models())]}


def grader_types(params: Params) -> Answer:
    """Describe the grader types of this environment; with ``custom`` true only those of plug-ins.

    A type is ``{type, title, built_in, documentation, schema}``; ``schema`` is that of a whole grader entry.
    A custom type that cannot be described, or a plug-in that cannot be loaded, is one sentence under
    ``problems``; the other types are still returned.
    """
    from waza_engine.graders.registry import BUILT_IN_TYPES, custom_types, grader_types, plugin_problems
    from waza_engine.schemas.entry_schemas import grader_schema

    known = dict(custom_types()) if params.get("custom") is True else {**grader_types(), **custom_types()}
    types: list[Answer] = []
    problems = list(plugin_problems())
    for name, grader in known.items():
        try:
            schema = grader_schema(grader)
        except Exception as error:  # noqa: BLE001 - a type of somebody else must not hide the others
            problems.append(f"the grader type `{name}` cannot be described: {error}")
            continue
        types.append(
            {
                "type": name,
                "title": grader.title,
                "built_in": name in BUILT_IN_TYPES,
                "documentation": inspect.getdoc(grader) or "",
                "schema": schema,
            }
        )
    return {"types": types, "problems": problems}


def _suite(params: Params) -> Suite:
    """Return the suite of a request that describes it, with the tasks that are switched off."""
    path = eval_path(params, "path")
    return loaded(lambda: load_suite(path, disabled=True), INTERNAL_ERROR)


def loaded(load: Callable[[], LoadedT], code: int = VALIDATION_FAILED) -> LoadedT:
    """Return the result of ``load``; ``code`` is the error code for a suite that cannot be used."""
    try:
        return load()
    except RecordingError as error:
        raise refused(str(error), INVALID_PARAMS) from None
    except (SuiteFileError, SuiteError) as error:
        raise refused(str(error), code) from None


def eval_path(params: Params, key: str) -> Path:
    """Return the eval file of a parameter, which names it or its directory."""
    path = path_param(params, key)
    try:
        found = eval_file_of(path)
    except SuiteError as error:
        raise refused(str(error), EVAL_NOT_FOUND) from None
    if not is_named(found):
        raise refused(f"There is no eval file {path}.", EVAL_NOT_FOUND)
    return found


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
        **nonempty(description=spec.description, skill=spec.skill),
        "config": {
            "runs_per_test": spec.config.trials_per_task,
            "timeout_sec": spec.config.timeout_seconds,
            "concurrent": spec.config.parallel,
            "engine_type": spec.config.executor,
            "model_id": spec.config.model,
            **{name: config[key] for key, name in _CONFIG_NAMES.items() if config.get(key)},
        },
        "tasks": [task if isinstance(task, str) else str(getattr(task, "id", "")) for task in spec.tasks],
        **nonempty(tasks_from=spec.tasks_from),
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
        **nonempty(
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
    return {
        "identifier": entry.name,
        **nonempty(kind=entry.type, weight=entry.weight, parameters=config),
    }


def _renamed(block: Mapping[str, Any], names: Mapping[str, str]) -> Answer:
    return {names.get(key, key): value for key, value in block.items()}
