"""Select the tasks of a run and build their graders; report problems before anything starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from waza_engine.graders.base import Grader
from waza_engine.graders.registry import create
from waza_engine.runs.agent.allowed_tools import AgentTools
from waza_engine.runs.grading.graders import NAMES, BuiltGrader, build_graders
from waza_engine.runs.loading.suite_on_disk import Suite, SuiteError, SuiteTask, select_tasks
from waza_engine.runs.trials.trial import TrialTask
from waza_engine.spec.expected import Expected
from waza_engine.spec.grader_entry import GraderEntry
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.suite_reader import DISK, SuiteFiles
from waza_engine.spec.task_file import TaskFile


@dataclass(frozen=True, slots=True)
class SelectedTask:
    """A task of a run. ``trial`` is None when the task cannot run; its source says why."""

    source: SuiteTask
    trial: TrialTask | None
    grader_names: frozenset[str] = frozenset()
    """The names of all of its graders, even if only some were chosen."""


_List = tuple[Sequence[GraderEntry], tuple[BuiltGrader, ...], list[str]]
"""Entries (referenced, so that their ids stay unique), their graders, and warnings about them."""


def select(
    suite: Suite,
    task_patterns: Sequence[str],
    grader_names: Sequence[str],
    tag_patterns: Sequence[str] = (),
    *,
    build: Callable[[GraderEntry], Grader[Any]] = create,
    files: SuiteFiles = DISK,
) -> tuple[list[SelectedTask], list[str]]:
    """Return the tasks with their graders, and warnings about them.

    With grader names, a task that has none of them is left out. ``build`` is as for ``build_graders``; files
    of graders are read through ``files``. Raises ``SuiteError`` when nothing is left.
    """
    notices, agents = _Notices(suite.directory, files), AgentTools(suite)
    selected: list[SelectedTask] = []
    warnings: dict[str, None] = {}
    known: dict[str, None] = {}
    lists: dict[tuple[int, ...], _List] = {}
    of_suite = {id(entry) for entry in suite.spec.graders}
    for source in select_tasks(suite, task_patterns, tag_patterns):
        if source.task is None:
            if not grader_names:
                selected.append(SelectedTask(source, None))
            continue
        entries, unknown = _entries(suite, source.task.expected, source.task.graders)
        try:
            implicit, policy = agents.grader(source.task, entries), agents.policy(source.task)
        except SuiteFileError as error:
            selected.append(SelectedTask(replace(source, task=None, error=str(error)), None))
            continue
        listed = tuple(entries if implicit is None else [*entries, implicit])
        # Most tasks have the graders of the suite and no others.
        same = tuple(map(id, listed))
        if same not in lists:
            graders, found = build_graders(listed, build)
            graders = tuple(
                replace(built, notices=own) if (own := notices.of(built, grader_names)) else built
                for built in graders
            )
            lists[same] = listed, graders, found
        _, graders, found = lists[same]
        checkpoints, found_there = _at_checkpoints(source.task, build, notices)
        expected = _expected_names(source.task.expected)
        warnings |= dict.fromkeys(f"{source.path}: {warning}" for warning in (*found, *found_there))
        for built in (*graders, *(built for turn in checkpoints.values() for built in turn)):
            # Problems of the eval file are reported once, and there.
            place = suite.path if id(built.entry) in of_suite else source.path
            notes = (*(built.grader.warnings if built.grader is not None else ()), *built.notices)
            warnings |= dict.fromkeys(f"{place}: grader `{built.name}`: {notice}" for notice in notes)
        known |= dict.fromkeys([*(built.name for built in graders), *expected])
        graders = (*graders, *(_missing(name) for name in unknown))
        names = frozenset((*(built.name for built in graders), *expected))
        if grader_names:
            graders = tuple(built for built in graders if built.name in grader_names)
            expected = [name for name in expected if name in grader_names]
            if not graders and not expected:
                continue
        trial = TrialTask(
            source.path,
            source.name,
            source.task,
            graders,
            bool(expected),
            expected,
            id=source.id,
            tool_policy=policy,
            checkpoint_graders=checkpoints,
            pass_rate=source.task.pass_rate or suite.spec.config.pass_rate,
        )
        selected.append(SelectedTask(source, trial, names))
    if not selected and (grader_names or not suite.is_trigger_list):
        wanted = ", ".join(f"`{name}`" for name in grader_names)
        raise SuiteError(f"No grader is called {wanted}; the suite has {', '.join(known) or 'none'}.")
    for name in grader_names:
        if name not in known:
            warnings[f"no grader is called `{name}`; there are {', '.join(known)}"] = None
    return selected, list(warnings)


def ungraded(tasks: Sequence[SelectedTask]) -> tuple[SelectedTask, ...]:
    """Return the tasks without graders of any kind, for a run that only records answers."""
    return tuple(
        replace(
            task,
            trial=task.trial
            and replace(task.trial, graders=(), grade_expected=False, expected_names=(), graded=False),
        )
        for task in tasks
    )


def graders_of(tasks: Sequence[SelectedTask]) -> Iterator[BuiltGrader]:
    """Yield the graders of some tasks, and of their checkpoints."""
    for task in tasks:
        yield from () if task.trial is None else task.trial.all_graders


def compares(task: SelectedTask) -> bool:
    """Return whether a grader of the task compares the answer with that of the baseline."""
    return task.trial is not None and any(_compares(built) for built in task.trial.graders)


def without_comparisons(tasks: Sequence[SelectedTask]) -> tuple[SelectedTask, ...]:
    """Return the tasks as the baseline runs them: without the graders that compare with it.

    A task that has no other graders is not graded at all: it would pass for nothing.
    """
    return tuple(
        replace(task, trial=_without_comparisons(task)) if compares(task) else task for task in tasks
    )


def _without_comparisons(task: SelectedTask) -> TrialTask | None:
    trial = task.trial
    if trial is None:
        return None
    graders = tuple(built for built in trial.graders if not _compares(built))
    return replace(trial, graders=graders, graded=bool(graders) or trial.grade_expected)


def _compares(built: BuiltGrader) -> bool:
    return built.grader is not None and built.grader.compares


class _Notices:
    """Notices about what would keep graders from grading. A grader of several tasks is checked once."""

    def __init__(self, suite_directory: Path, files: SuiteFiles) -> None:
        self._suite_directory = suite_directory
        self._files = files
        self._of_grader: dict[Grader[Any], tuple[str, ...]] = {}

    def of(self, built: BuiltGrader, wanted: Sequence[str]) -> tuple[str, ...]:
        """Return a sentence for each problem that would keep a chosen grader from grading."""
        if built.grader is None or (wanted and built.name not in wanted):
            return ()
        return self._notices(built.grader)

    def _notices(self, grader: Grader[Any]) -> tuple[str, ...]:
        found = self._of_grader.get(grader)
        if found is None:
            try:
                found = grader.notices(self._suite_directory, self._files)
            except Exception as error:  # noqa: BLE001 - a grader type of somebody else must not end the run
                found = (f"it cannot be looked at before the run: {error!r}",)
            self._of_grader[grader] = found
        return found


def _at_checkpoints(
    task: TaskFile, build: Callable[[GraderEntry], Grader[Any]], notices: _Notices
) -> tuple[dict[int, tuple[BuiltGrader, ...]], list[str]]:
    """Return the graders of each checkpoint by turn, and warnings about duplicate names in one.

    A checkpoint is graded whatever graders are requested.
    """
    graders: dict[int, tuple[BuiltGrader, ...]] = {}
    warnings: list[str] = []
    for checkpoint in task.checkpoints:
        turn = checkpoint.after_turn
        built, found = build_graders(checkpoint.graders, build)
        graders[turn] = tuple(replace(each, notices=notices.of(each, ())) for each in built)
        warnings += [f"checkpoint after turn {turn}: {warning}" for warning in found]
    return graders, warnings


def _entries(
    suite: Suite, expected: Expected, own: Sequence[GraderEntry]
) -> tuple[list[GraderEntry], list[str]]:
    """Return the suite's graders, then the task's; and the names in ``expected.graders`` that no grader has.

    A grader of the suite that a task names applies to every task anyway.
    """
    inline = [entry for entry in expected.graders if isinstance(entry, GraderEntry)]
    entries = [*suite.spec.graders, *own, *inline]
    names = {entry.name for entry in entries}
    unknown = [entry for entry in expected.graders if isinstance(entry, str) and entry not in names]
    return entries, unknown


def _missing(name: str) -> BuiltGrader:
    entry = GraderEntry(name=name)
    return BuiltGrader(name, entry, None, f"`expected.graders` names `{name}`, but no grader has this name")


def _expected_names(expected: Expected) -> list[str]:
    lists = (expected.output_contains, expected.output_not_contains, expected.output_contains_any)
    return [name for name, texts in zip(NAMES, lists, strict=True) if texts]
