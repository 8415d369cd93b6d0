"""Find the tasks that have changed since their newest result, for a run of the affected tasks.

The record of a run has the digests of the files that decided each of its tasks, and the contents of most. A
task is outdated when a file that it reads was changed, added or deleted since, when the suite defines it
differently, when the executor or model differs, and when it has no recorded result.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from waza_engine.files import FileError
from waza_engine.masking import masked
from waza_engine.results.freshness import agent_differs
from waza_engine.results.inputs import RunInputs, digest_of, inputs_of
from waza_engine.results.reading.newest_scores import latest_results
from waza_engine.results.reading.scores import RunOrigin, TaskResult
from waza_engine.runs.loading.suite import Suite
from waza_engine.runs.passes.deciding_files import LONGEST_TEXT, MOST_RECORDED_BYTES, OwnFiles, inputs_today
from waza_engine.runs.passes.suite_before import Build, SuiteBefore, suite_before
from waza_engine.runs.settings.table import RunSettings
from waza_engine.runs.trials.selection import SelectedTask
from waza_engine.spec.reading.suite_files import DISK, SuiteFiles


def outdated(
    suite: Suite, tasks: Sequence[SelectedTask], settings: RunSettings, build: Build
) -> list[SelectedTask]:
    """Return the tasks that are outdated, in their order. ``build`` is as for ``select``."""
    recorded = latest_results(suite.directory, eval_file=suite.path.name)
    results: Mapping[str, TaskResult] = {} if recorded is None else recorded.tasks
    origins = {task.id: task.origin for task in results.values() if task.was_run}
    config = suite.spec.config
    found: set[str] = set()
    groups: dict[RunOrigin, list[SelectedTask]] = {}
    for task in tasks:
        origin = origins.get(task.source.id)
        if (
            origin is None
            or not origin.inputs
            or any(agent_differs(origin.executor, origin.model, config.executor, config.model))
        ):
            found.add(task.source.id)
        else:
            groups.setdefault(origin, []).append(task)
    for origin, recorded_then in groups.items():
        found |= _Since(origin, suite, settings, build).outdated(recorded_then)
    return [task for task in tasks if task.source.id in found]


class _Since:
    """The changes since a recorded run."""

    def __init__(self, origin: RunOrigin, suite: Suite, settings: RunSettings, build: Build) -> None:
        self._suite = suite
        self._settings = settings
        self._build = build
        self._recorded = inputs_of(origin.results, origin.inputs)
        self._own_files = OwnFiles(suite)
        self._own: dict[str, bool] = {}

    def outdated(self, tasks: Sequence[SelectedTask]) -> set[str]:
        """Return the ids of the tasks that have changed."""
        if not self._recorded.files:
            return {task.source.id for task in tasks}
        # The suite is compared by its meaning, not by its digests.
        then = self._by_task(self._recorded, tasks)
        now = self._by_task(inputs_today(self._suite, tasks), tasks)
        before, today = self._said()
        found: set[str] = set()
        for task in tasks:
            name = task.source.id
            said = None if before is None else before.of(task)
            same = said is not None and today is not None and said == today.of(task)
            if not same or not self._same_files(then[name], now[name]):
                found.add(name)
        return found

    def _same_files(self, then: Mapping[str, str], now: Mapping[str, str]) -> bool:
        """Return whether no file was added and all that decided the task are unchanged.

        A path relative to the folder that a run started in is resolved from there alone.
        """
        return not now.keys() - then.keys() and all(
            now.get(name) == digest or (name not in now and self._digest(name) == digest)
            for name, digest in then.items()
        )

    def _said(self) -> tuple[SuiteBefore | None, SuiteBefore | None]:
        """Return the suite's old and new definitions, from masked texts where they differ."""
        old: dict[Path, str] = {}
        new: dict[Path, str] = {}
        for file in self._recorded.files:
            if self._is_own(file.path) and self._digest(file.path) != file.sha256:
                path, text = self._suite.directory / file.path, self._recorded.texts.get(file.path)
                if text is None:
                    return None, None
                old[path] = text
                # One that is gone is in no suite of today.
                with contextlib.suppress(FileError):
                    new[path] = masked(DISK.text_of(path, LONGEST_TEXT))
        if not old:
            return (same := self._read(DISK)), same
        return self._read(DISK.overlaid(old)), self._read(DISK.overlaid(new))

    def _read(self, files: SuiteFiles) -> SuiteBefore | None:
        return suite_before(self._settings, files, self._build)

    def _digest(self, name: str) -> str:
        try:
            return digest_of(DISK.bytes_of(self._suite.directory / name, MOST_RECORDED_BYTES))
        except FileError:
            return ""

    def _is_own(self, name: str) -> bool:
        if name not in self._own:
            self._own[name] = self._suite.directory / name in self._own_files
        return self._own[name]

    def _by_task(self, inputs: RunInputs, tasks: Sequence[SelectedTask]) -> dict[str, dict[str, str]]:
        """Return the digests of the files that each task reads, by the path in the record."""
        found: dict[str, dict[str, str]] = {task.source.id: {} for task in tasks}
        for file in inputs.files:
            if not self._is_own(file.path):
                for name in file.tasks or found:
                    if name in found:
                        found[name][file.path] = file.sha256
        return found
