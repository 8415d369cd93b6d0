"""Apply the settings of a run to the suite, and record them: an option overrides the suite."""

from __future__ import annotations

import importlib.metadata
import math
import platform
import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from waza_engine.boundary import Boundary, FileError, suite_boundary
from waza_engine.files import from_home
from waza_engine.results.record import RunHeader
from waza_engine.results.result_file_names import session_directory
from waza_engine.runs.loading.suite_on_disk import Suite, SuiteError, SuiteTask
from waza_engine.runs.settings.table import RETRIES, RunSettings, Setting, setting_rows
from waza_engine.scoring.statistics import BOOTSTRAP_SEED
from waza_engine.spec.eval_config import Provider
from waza_engine.spec.executors import EXECUTORS
from waza_engine.spec.loading import find_project_config, load_project_config
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.project_config import Paths, ProjectConfig
from waza_engine.spec.reading.suite_reader import DISK, SuiteFiles


def explicit_settings(settings: RunSettings) -> dict[str, object]:
    """Return the options that the suite may omit then: keys of ``config`` and their values."""
    return _without_none(
        {
            "executor": settings.executor,
            "trials_per_task": settings.trials,
            "timeout_seconds": settings.timeout_seconds,
        }
    )


def project_config(directory: Path, files: SuiteFiles = DISK) -> tuple[ProjectConfig, list[str]]:
    """Return the ``.waza.yaml`` of a suite's directory, and warnings: a broken file is left out."""
    try:
        project, warnings = load_project_config(directory, files=files)
    except SuiteFileError as error:
        return ProjectConfig(), [f"{error}; the whole file is left out"]
    return project, [str(warning) for warning in warnings]


def with_options(suite: Suite, settings: RunSettings, project: ProjectConfig) -> Suite:
    """Return the suite as the settings and then the project's defaults want it.

    Raises ``SuiteError`` for an option that makes no sense.
    """
    _check(settings)
    config = suite.spec.config
    given = config.model_fields_set
    defaults = project.defaults
    changes = {
        "trials_per_task": settings.trials,
        "executor": settings.executor,
        "model": settings.model,
        "judge_model": settings.judge_model or (config.judge_model or defaults.judge_model or None),
        "workers": settings.workers or (None if "workers" in given else defaults.workers or None),
        "parallel": _parallel(settings, None if "parallel" in given else defaults.parallel or None),
        "timeout_seconds": settings.timeout_seconds,
        "fail_fast": settings.fail_fast,
    }
    spec = suite.spec.model_copy(update={"config": config.model_copy(update=_without_none(changes))})
    if settings.baseline is not None:
        spec = spec.model_copy(update={"baseline": settings.baseline})
    suite = replace(suite, spec=spec, tasks=tuple(_task(task, settings) for task in suite.tasks))
    return without_skills(suite) if settings.no_skills else suite


def without_skills(suite: Suite) -> Suite:
    """Return the suite for a baseline, or ``no_skills``: without skills from any source.

    Upstream leaves those of the working directory and of single tasks in.
    """
    config = suite.spec.config.model_copy(
        update={
            "skill_directories": (),
            "required_skills": (),
            "disabled_skills": ("*",),
            "inject_skill_body": False,
        }
    )
    none = {"skill_directories": ()}
    tasks = tuple(
        task if task.task is None else replace(task, task=task.task.model_copy(update=none))
        for task in suite.tasks
    )
    return replace(suite, spec=suite.spec.model_copy(update={"config": config}), tasks=tasks)


def check_executor(name: str) -> None:
    """Raise ``SuiteError`` for an unknown executor name; it was requested, and is in no file."""
    if name not in EXECUTORS:
        known = ", ".join(f"`{known}`" for known in EXECUTORS)
        raise SuiteError(f"`{name}` is not an executor; choose one of {known}.")


def _check(settings: RunSettings) -> None:
    for name, row in setting_rows().items():
        _check_value(row, getattr(settings, name))
    if settings.context_directory is not None and not settings.context_directory.is_dir():
        raise SuiteError(f"There is no context directory {settings.context_directory}.")
    for kind in settings.retry:
        if kind not in RETRIES:
            raise SuiteError(f"`--retry` takes {', '.join(RETRIES[:-1])} or {RETRIES[-1]}, not `{kind}`.")
    for chosen in (settings.executor, settings.judge_executor):
        if chosen is not None:
            check_executor(chosen)


def _check_value(row: Setting, value: Any) -> None:
    """Raise ``SuiteError`` for a number out of bounds, and for a blank string: it would limit nothing."""
    name = row.option or row.parameter or "fail_under"
    if row.kind in ("number", "amount") and value is not None:
        if isinstance(value, float) and not math.isfinite(value):
            raise SuiteError(f"`{name}` must be a finite number; leave it out to have no limit.")
        if value < row.minimum:
            raise SuiteError(f"`{name}` must be {row.minimum} or more, not {value}.")
        if row.maximum is not None and value > row.maximum:
            raise SuiteError(f"`{name}` must be {row.maximum} or less, not {value}.")
    elif row.kind in ("text", "texts"):
        texts: Sequence[str] = (value,) if isinstance(value, str) else value or ()
        if not all(map(str.strip, texts)):
            raise SuiteError(f"`{name}` is blank; name one, or leave it out.")


def _parallel(settings: RunSettings, default: bool | None) -> bool | None:
    """Return whether trials run in parallel; asking for several workers implies it."""
    if settings.parallel is not None:
        return settings.parallel
    return True if (settings.workers or 0) > 1 else default


def _task(task: SuiteTask, settings: RunSettings) -> SuiteTask:
    if task.task is None:
        return task
    changes: dict[str, Any] = {}
    if settings.timeout_seconds is not None and task.task.timeout_seconds is not None:
        changes["timeout_seconds"] = settings.timeout_seconds
    if settings.context_directory is not None and not task.task.context_dir:
        changes["context_dir"] = str(settings.context_directory.absolute())
    return replace(task, task=task.task.model_copy(update=changes)) if changes else task


def _without_none(changes: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in changes.items() if value is not None}


def session_logs(settings: RunSettings, suite_directory: Path, project: ProjectConfig) -> Path | None:
    """Return the directory of session logs, None when the run keeps none."""
    if settings.session_directory is not None:
        return settings.session_directory.absolute()
    wanted = project.defaults.session_log if settings.session_log is None else settings.session_log
    return session_directory(suite_directory) if wanted else None


def second_results(suite_directory: Path, project: ProjectConfig) -> Path | None:
    """Return the directory that ``paths.results`` names for a copy of the results, None by default.

    It is relative to ``.waza.yaml`` (upstream: to the working directory). Raises ``SuiteError`` for one that
    leads out of the boundary of that file.
    """
    written = project.paths.results.strip()
    file = find_project_config(suite_directory)
    if file is None or not written or Path(written) == Path(Paths().results):
        return None
    return inside(file, written, "paths.results")


def project_boundary(suite_directory: Path) -> Boundary:
    """Return the boundary of paths in ``.waza.yaml``, or of the suite without that file."""
    file = find_project_config(suite_directory)
    return suite_boundary(suite_directory if file is None else file.parent)


def inside(config: Path, written: str, key: str) -> Path:
    """Return the place of a path in ``.waza.yaml``. Raises ``SuiteError`` when it leads outside."""
    try:
        return suite_boundary(config.parent).first(written, [config.parent / from_home(written)], key)
    except FileError as error:
        raise SuiteError(f"{config}: {error.why}; name a folder inside.") from None


def written_folders(settings: RunSettings, suite_directory: Path, project: ProjectConfig) -> list[Path]:
    """Return the folders that a run writes to besides its result file; some need not exist."""
    places = (
        session_logs(settings, suite_directory, project),
        second_results(suite_directory, project),
        settings.transcript_directory,
    )
    return [place for place in places if place is not None]


def run_header(
    suite: Suite,
    settings: RunSettings,
    *,
    library: str,
    judge_models: tuple[str, ...],
    affected: Mapping[str, Any] | None = None,
    resumed: str | None = None,
    shard: Mapping[str, Any] | None = None,
    grader_names: Collection[str] = (),
) -> RunHeader:
    """Return the header of a run that starts now.

    ``library`` is that of the executor, "" without one; ``affected`` holds, for a run of the affected tasks,
    the base commit, their number, and the number of all tasks; ``resumed`` is the id of a run that it goes on
    with, ``shard`` the part of the tasks that it ran. ``grader_names`` are those of all graders of
    its tasks, even if only some were chosen.
    """
    started = datetime.now(UTC)
    config = suite.spec.config
    return RunHeader(
        run_id=f"run-{int(started.timestamp())}-{secrets.token_hex(3)}",
        started=started,
        eval_file=suite.path.name,
        eval_name=suite.spec.name,
        skill=suite.spec.skill,
        executor=config.executor,
        model=config.model,
        judge_model=config.judge_model,
        trials_per_task=config.trials_per_task,
        timeout_seconds=config.timeout_seconds,
        tasks=tuple(settings.tasks),
        graders=tuple(name for name in dict.fromkeys(settings.graders) if name in grader_names),
        settings=_non_empty(
            {
                **settings.recorded(),
                "workers": config.workers if config.parallel else 1,
                "max_attempts": config.max_attempts,
                "pass_score": config.pass_score,
                "fail_fast": config.fail_fast,
                "baseline": suite.spec.baseline,
                "skill_directories": list(config.skill_directories),
                "disabled_skills": list(config.disabled_skills),
                "judge_models": list(judge_models),
                "affected": affected,
                "resumed": resumed,
                "shard": shard,
                "graders_of": len(grader_names) if settings.graders else None,
                "provider": None if config.provider is None else _provider(config.provider),
                "workspace_tools": list(config.workspace_tools),
                "adapter": config.adapter,
                "recording": config.recording,
                "versions": _versions(library),
            }
        )
        | {"inject_skill_body": config.inject_skill_body, "bootstrap_seed": BOOTSTRAP_SEED},
    )


def _provider(provider: Provider) -> Mapping[str, Any]:
    """Return the provider without values that may hold a key: only the host of its address."""
    address = urlsplit(provider.base_url)
    host = address.hostname or ""
    try:
        port = address.port
    except ValueError:
        port = None
    return {
        "type": provider.type,
        "host": f"{host}:{port}" if port else host,
        "wire_api": provider.wire_api,
    }


def _versions(library: str) -> Mapping[str, str]:
    found = {"python": platform.python_version(), "platform": platform.platform(terse=True)}
    for package in ("genai-prices", library):
        if package:
            try:
                found[package] = importlib.metadata.version(package)
            except importlib.metadata.PackageNotFoundError:
                continue
    return found


def _non_empty(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None and value != [] and value != ""}
