"""Cached results of unchanged tasks from earlier runs: one JSON file per task, named by its key.

The key covers everything that can change an answer or a verdict, the contents of files included, which that
of upstream does not. Tasks that depend on what no key covers, such as a person's review or a repository's
branch, are not cached. Only tasks whose every trial passed or failed and was graded are cached.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast

from waza_engine.boundary import Boundary
from waza_engine.files import opened_to_read, read_beginning, read_bytes, relative_name
from waza_engine.masking import is_secret_name
from waza_engine.results.codec.summary_blocks import task_document, task_of
from waza_engine.results.json_values import Block
from waza_engine.results.record import TaskOutcome
from waza_engine.results.result_file_names import LONGEST_BYTES
from waza_engine.results.writing.store import ResultsError, encoded, keep_out_of_git, write_atomically
from waza_engine.runs.agent.setup import AgentSetup
from waza_engine.runs.loading.suite_on_disk import Suite, SuiteTask
from waza_engine.runs.passes.affected import task_key
from waza_engine.runs.passes.deciding_files import MOST_BYTES, DecidingFiles, files_at
from waza_engine.runs.settings.options import inside
from waza_engine.runs.settings.table import RunSettings
from waza_engine.runs.trials.context import RunContext
from waza_engine.runs.trials.trial import TrialTask
from waza_engine.spec.executors import replays
from waza_engine.spec.loading import PROJECT_CONFIG_NAME, find_project_config
from waza_engine.spec.project_config import ProjectConfig
from waza_engine.version import __version__

DIRECTORY = ".waza-cache"
_FORMAT = 2
_IGNORE = ".gitignore"
_MOST_FILES = 5_000
_PROVIDER_ENDINGS = ("_BASE_URL", "_ENDPOINT", "_API_BASE", "_API_VERSION")
_PROVIDER_PREFIXES = ("COPILOT_", "WAZA_")


def cache_directory(settings: RunSettings, suite: Suite, project: ProjectConfig) -> Path | None:
    """Return the cache directory, None when the run uses no cache.

    A directory of the settings is relative to the working directory, one of ``.waza.yaml`` to that file. The
    tasks of a scenario always run again: what they reach outside the suite is in no key.
    """
    if suite.spec.scenario is not None:
        return None
    wanted = project.cache.enabled if settings.cache is None else settings.cache
    if not wanted:
        return None
    if settings.cache_directory is not None:
        return settings.cache_directory.absolute()
    return configured_directory(suite.directory, project)


def configured_directory(directory: Path, project: ProjectConfig) -> Path:
    """Return the cache directory of ``.waza.yaml`` for a directory, or the default inside it.

    Raises ``SuiteError`` for one that leads out of the boundary.
    """
    file = find_project_config(directory)
    return inside(file or directory / PROJECT_CONFIG_NAME, project.cache.dir or DIRECTORY, "cache.dir")


class CacheError(Exception):
    """The directory cannot be used or cleared as a cache; the message says why."""


class TaskCache:
    """The cache in a directory. Unreadable entries are ignored; ones that cannot be written are lost.

    ``written`` are folders that runs write to: their files, like the cache itself, decide no answer.
    ``within`` is the boundary of a directory that was not named on a command line.
    """

    def __init__(
        self,
        directory: Path,
        executor: str,
        model: str,
        judge_executor: str,
        written: Iterable[Path] = (),
        within: Boundary | None = None,
    ) -> None:
        self._directory = directory
        self._within = within
        self._written = frozenset(Path(os.path.abspath(place)) for place in (directory, *written))  # noqa: PTH100
        self._judge_executor = judge_executor
        self._executor = executor
        self._model = model
        self._contents: dict[Path, str | None] = {}
        self._reads: tuple[AgentSetup, DecidingFiles] | None = None

    def key(self, source: SuiteTask, task: TrialTask, context: RunContext) -> str | None:
        """Return the key of a task as it would run now, None when its result must not be cached."""
        # Replaying is immediate, and its recording may be the newest results, which change with every run.
        if source.task is None or not task.graded or replays(self._executor):
            return None
        if not self._is_cacheable(task):
            return None
        document = {
            "format": _FORMAT,
            "engine": __version__,
            "python": platform.python_version(),
            "platform": platform.system(),
            "executor": self._executor,
            "judge_executor": self._judge_executor,
            "model": self._model,
            "environment": _provider_environment(),
            **task_key(source, task, context.suite, context.program_timeout_seconds),
            "baseline": list(context.baseline_outputs.get(source.id, ())),
        }
        files = self._files(source, task, context)
        if files is None:
            return None
        text = json.dumps({**document, "files": files}, sort_keys=True, ensure_ascii=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()

    def get(self, key: str) -> TaskOutcome | None:
        """Return the cached result of a task, marked as cached."""
        place = self._directory / f"{key}.json"
        try:
            entry: object = json.loads(read_bytes(place, LONGEST_BYTES, within=self._within))
        except (OSError, ValueError, RecursionError):
            return None
        task = cast("Block", entry).get("task") if isinstance(entry, Mapping) else None
        # A cached result costs nothing.
        return replace(task_of(cast("Block", task)), cached=True) if isinstance(task, Mapping) else None

    def put(self, key: str, outcome: TaskOutcome) -> None:
        """Store a result if it is final."""
        if not _is_final(outcome):
            return
        entry = {"waza_engine_cache": _FORMAT, "task": task_document(outcome)}
        with contextlib.suppress(OSError, ResultsError, ValueError):
            keep_out_of_git(self._directory, within=self._within)
            write_atomically(self._directory / f"{key}.json", encoded(entry), within=self._within)

    def _is_cacheable(self, task: TrialTask) -> bool:
        inputs = task.spec.inputs
        return not inputs.repos and all(
            built.grader is not None and not built.grader.reviewed for built in task.all_graders
        )

    def _files(self, source: SuiteTask, task: TrialTask, context: RunContext) -> dict[str, str] | None:
        """Return the digest of everything on disk that the task reads, None when that is too much."""
        if self._reads is None or self._reads[0] is not context.agent:
            self._reads = context.agent, DecidingFiles(context.suite, context.agent)
        places = self._reads[1].places(source, task)
        suite = context.suite
        found: dict[str, str] = {}
        for place in sorted(places):
            digest = self._digest(place, suite.directory)
            if digest is None:
                return None
            # Another checkout of the suite is another place with the same files.
            found[relative_name(place, suite.directory)] = digest
        return found

    def _digest(self, place: Path, suite_directory: Path) -> str | None:
        # A run reads most of them once for every task.
        if place not in self._contents:
            self._contents[place] = _digest_of(place, suite_directory, self._written)
        return self._contents[place]


def clear_cache(directory: Path) -> int:
    """Delete the entries of a cache and return how many there were.

    Raises ``CacheError``, and deletes nothing, when anything else lies in the directory.
    """
    if not directory.exists():
        return 0
    if not directory.is_dir() or directory.is_symlink():
        raise CacheError(f"{directory} is no cache: it is not a directory.")
    entries = [entry for entry in directory.iterdir() if entry.name != _IGNORE]
    foreign = next((entry for entry in entries if not _is_entry(entry)), None)
    if foreign is not None:
        raise CacheError(f"{directory} is no cache, so nothing is deleted: it holds {foreign.name}.")
    try:
        for entry in entries:
            entry.unlink()
        if entries or (directory / _IGNORE).exists():
            (directory / _IGNORE).unlink(missing_ok=True)
            directory.rmdir()
    except OSError as error:
        raise CacheError(f"{directory} cannot be cleared: {error.strerror or error}.") from None
    return len(entries)


def _is_entry(path: Path) -> bool:
    """Return whether a file is a cache entry, by its name and its content."""
    if path.suffix != ".json" or not path.is_file() or path.is_symlink():
        return False
    stem = path.stem
    if len(stem) != hashlib.sha256().digest_size * 2 or not set(stem) <= set("0123456789abcdef"):
        return False
    try:
        return b'"waza_engine_cache"' in read_beginning(path, 100)
    except OSError:
        return False


def _is_final(outcome: TaskOutcome) -> bool:
    """Return whether the result is final: no error, no limit, no pending review."""
    return (
        outcome.status in ("passed", "failed")
        and not outcome.error
        and bool(outcome.trials)
        and all(trial.status in ("passed", "failed") and not trial.error for trial in outcome.trials)
        and all(graded.status == "graded" for trial in outcome.trials for graded in trial.graded)
    )


def _provider_environment() -> dict[str, str]:
    """Return where requests go, as far as the environment decides it: no keys, and only for the digest."""
    return {
        name: value
        for name, value in sorted(os.environ.items())
        if name.endswith(_PROVIDER_ENDINGS)
        or (name.startswith(_PROVIDER_PREFIXES) and not is_secret_name(name))
    }


def _digest_of(place: Path, suite_directory: Path, written: Collection[Path]) -> str | None:
    """Return the digest of a file (of a program: with the sources next to it) or of all files of a folder."""
    digest = hashlib.sha256()
    files = bytes_read = 0
    try:
        for file, name in files_at(place, suite_directory, written):
            files += 1
            bytes_read += file.stat().st_size
            if files > _MOST_FILES or bytes_read > MOST_BYTES:
                return None
            with opened_to_read(file) as content:
                digest.update(f"{name}\0{hashlib.file_digest(content, 'sha256').hexdigest()}\n".encode())
    except OSError:
        return None
    return digest.hexdigest()
