"""Files that the agent may have read: if one has changed since, its answer is out of date.

A schema or snapshot that only a grader reads affects just the verdict, which is computed again.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, cast

from waza_engine.runs.agent.workspace import fixture_directory
from waza_engine.runs.loading.suite import Suite
from waza_engine.runs.trials.trial import TrialTask
from waza_engine.spec.skill_file import SKILL_FILE

if TYPE_CHECKING:
    from pydantic import BaseModel

MOST_KEPT = 4_000
"""Suites and tasks, each as it was written once, whose names are remembered."""
_LONGEST_REFERENCE = 400
_OF_GRADERS = {"tasks", "tasks_from", "graders", "metrics", "expected"}


class AgentFiles:
    """Files that suites and tasks name outside their graders, computed once per version."""

    def __init__(self) -> None:
        self._named: dict[int, tuple[BaseModel, Set[str]]] = {}
        self._around: dict[tuple[Path, Path], tuple[Collection[str], bool]] = {}

    def look_again(self) -> None:
        """Forget which files lie in skills: call it before each update."""
        self._around.clear()

    def may_have(self, file: Path, suite: Suite, task: TrialTask) -> bool:
        """Return whether the agent of a task may have read a file: true if in doubt.

        It may when suite or task name it or a folder around it, and when it lies among fixtures or in a
        skill.
        """
        key = file, suite.directory
        if key not in self._around:
            self._around[key] = {str(file), *map(str, file.parents)}, _is_in_skill(*key)
        places, is_in_skill = self._around[key]
        fixtures = fixture_directory(task.spec, suite.directory)
        return (
            is_in_skill
            or os.path.abspath(fixtures) in places  # noqa: PTH100
            or any(
                not self._places(model, suite, task, fixtures).isdisjoint(places)
                for model in (suite.spec, task.spec)
            )
        )

    def _places(self, model: BaseModel, suite: Suite, task: TrialTask, fixtures: Path) -> Set[str]:
        """Return the possible locations of files named in a suite or a task."""
        known = self._named.get(id(model))
        if known is None or known[0] is not model:
            words = set(_words(model.model_dump(mode="json", exclude=_OF_GRADERS)))
            roots = {suite.directory, fixtures, task.path.parent, Path.cwd(), *suite.directory.parents}
            found = {os.path.abspath(os.path.join(root, word)) for word in words for root in roots}  # noqa: PTH100, PTH118
            # The suite's own folder and its parents are no input file, even if a value is ".".
            apart = {str(suite.directory), *map(str, suite.directory.parents)}
            if len(self._named) >= MOST_KEPT:
                self._named.clear()
            known = self._named[id(model)] = model, found - apart
        return known[1]


def _is_in_skill(file: Path, suite_directory: Path) -> bool:
    """Return whether a file belongs to a skill; a suite inside a skill is no part of it."""
    apart = set(suite_directory.parents) if suite_directory in file.parents else set[Path]()
    return any((folder / SKILL_FILE).exists() for folder in file.parents if folder not in apart)


def _words(value: object) -> Iterator[str]:
    match value:
        case str():
            if len(value) <= _LONGEST_REFERENCE and not set(value) & {"\n", "\0"}:
                yield from {value, *value.split()}
        case Mapping():
            for item in cast("Mapping[object, object]", value).values():
                yield from _words(item)
        case list() | tuple():
            for item in cast("Sequence[object]", value):
                yield from _words(item)
        case _:
            pass
