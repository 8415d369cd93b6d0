"""The header of a run, known before its first task: everything that decides its numbers, no credentials."""

from __future__ import annotations

import importlib.metadata
import platform
import secrets
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from waza_engine.results.record import RunHeader
from waza_engine.runs.loading.suite import Suite
from waza_engine.runs.settings.table import RunSettings
from waza_engine.scoring.statistics import BOOTSTRAP_SEED
from waza_engine.spec.eval_config import EvalConfig, Provider


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
        settings=_given(
            {
                **settings.told(),
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
                **_executor_settings(config),
                "versions": _versions(library),
            }
        )
        | {"inject_skill_body": config.inject_skill_body, "bootstrap_seed": BOOTSTRAP_SEED},
    )


def _executor_settings(config: EvalConfig) -> Mapping[str, Any]:
    return {
        "provider": None if config.provider is None else _provider(config.provider),
        "workspace_tools": list(config.workspace_tools),
        "adapter": config.adapter,
        "recording": config.recording,
    }


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


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None and value != [] and value != ""}
