"""Find the tasks that changes since a commit affect: those whose answers or verdicts may change.

A task is affected when the suite defines it differently than at the commit (``suite_before.py``), or when a
file that it reads (``deciding_files.py``) was changed, added or deleted. All tasks are affected when the
suite could not be read at the commit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from waza_engine.runs.agent.setup import AgentSetup
from waza_engine.runs.agent.skills import SkillSet, suite_skills
from waza_engine.runs.loading.changed_files import ChangedFiles, FilesBefore, changed_since
from waza_engine.runs.loading.suite import NothingAffectedError, Suite
from waza_engine.runs.passes.deciding_files import DecidingFiles, OwnFiles, is_read
from waza_engine.runs.passes.suite_before import Build, SuiteBefore, said_of, suite_before, suite_key
from waza_engine.runs.settings.options import written_folders
from waza_engine.runs.settings.table import RunSettings
from waza_engine.runs.trials.selection import SelectedTask
from waza_engine.runs.trials.triggers import FILE_NAME as TRIGGER_TESTS
from waza_engine.spec.project_config import ProjectConfig
from waza_engine.spec.skill_file import AGENT_SUFFIX, SKILL_FILE

_FULL_HASH = 40
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Affected:
    """The affected tasks, ``of`` so many, and whether the trigger prompts are affected.

    ``commit`` is the full hash of the base commit. ``warnings`` name paths that git does not cover.
    """

    commit: str
    tasks: tuple[SelectedTask, ...]
    of: int
    triggers: bool
    warnings: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """Return its entry in the header of the results."""
        return {"commit": self.commit, "tasks": len(self.tasks), "of": self.of}


def affected(
    suite: Suite,
    tasks: Sequence[SelectedTask],
    settings: RunSettings,
    project: ProjectConfig,
    build: Build,
) -> Affected:
    """Return the tasks of a run that are affected by the changes since its commit.

    ``suite`` has the settings and ``project`` applied, ``build`` is as for ``select``.

    Raises ``NothingAffectedError``, and the errors of ``changed_since``.
    """
    commit = settings.changed_since or ""
    changes = changed_since(suite.path, commit)
    before = suite_before(settings, FilesBefore(changes), build)
    reading = _Reading(suite, changes, written_folders(settings, suite.directory, project))
    found = tuple(task for task in tasks if _is_other(task, before, suite, project) or reading.of_task(task))
    tries = bool(settings.prompts) or not settings.limited
    triggers = tries and _triggers(suite, before, reading, changes)
    if not found and not triggers:
        which = "none of the tasks asked for in" if settings.limited else "no task of"
        nothing = f"Nothing to run: what changed since {commit} affects {which} {suite.path}."
        raise NothingAffectedError(nothing, *(f"Note: {warning}." for warning in reading.warnings()))
    return Affected(changes.commit, found, len(tasks), triggers, tuple(reading.warnings()))


def _is_other(task: SelectedTask, before: SuiteBefore | None, suite: Suite, project: ProjectConfig) -> bool:
    then = None if before is None else before.of(task)
    return then is None or then != said_of(task, suite, project)


def _triggers(suite: Suite, before: SuiteBefore | None, reading: _Reading, changes: ChangedFiles) -> bool:
    """Return whether trigger prompts are affected: by their file, skills, or the agent's settings."""
    file = suite.directory / TRIGGER_TESTS
    if not file.is_file():
        return False
    other = before is None or before.suite != suite_key(suite)
    return other or changes.place(file) is not None or reading.of_triggers()


class _Reading:
    """The changed files that the tasks read; files that many tasks read are looked up once."""

    def __init__(self, suite: Suite, changes: ChangedFiles, written: Sequence[Path]) -> None:
        self._suite = suite
        self._changes = changes
        self._written = written
        self._skills = suite_skills(suite)
        self._agent = AgentSetup(suite, "", self._skills)
        self._gone = frozenset(path for path in changes.paths if not path.exists())
        self._reads = DecidingFiles(suite, self._agent, self._was_there)
        own = OwnFiles(suite)
        # The files of the suite are compared by their meaning.
        self._paths = [path for path in changes.paths if path not in own]
        self._own = own
        self._known: dict[Path, bool] = {}
        self._unseen: dict[Path, None] = {}

    def of_task(self, task: SelectedTask) -> bool:
        """Return whether a task reads a changed file, or one that git does not cover: a repository."""
        if task.trial is None:
            return False
        places = self._reads.places(task.source, task.trial)
        # Look at all of them: those that git does not cover are reported.
        changed = [self._has_changed(place) for place in sorted(places)]
        repositories = any(len(found.commit.strip()) != _FULL_HASH for found in task.trial.spec.inputs.repos)
        return any(changed) or repositories or self._lost_skill(self._agent.skills_of(task.trial.spec))

    def of_triggers(self) -> bool:
        """Return whether a trigger prompt reads a changed file: of skills, fixtures, instructions."""
        places = {
            *self._skills.directories,
            *self._reads.places_of_suite(),
            self._suite.directory / "fixtures",
        }
        changed = [self._has_changed(place) for place in sorted(places)]
        return any(changed) or self._lost_skill(self._skills)

    def warnings(self) -> list[str]:
        """Return warnings about paths that git does not cover."""
        if not self._unseen:
            return []
        names = [str(place) for place in self._unseen]
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        listed = ", ".join(names[:_SHOWN]) + more
        return [
            f"whether {listed} changed is not known: it lies outside of the repository {self._changes.top}"
        ]

    def _has_changed(self, place: Path) -> bool:
        if place not in self._known:
            self._known[place] = self._looked_at(place)
        return self._known[place]

    def _looked_at(self, place: Path) -> bool:
        if not self._changes.covers(place):
            self._unseen[place] = None
        if self._changes.place(place) is not None:
            return place not in self._own
        return any(is_read(file, place, self._suite.directory, self._written) for file in self._paths)

    def _lost_skill(self, skills: SkillSet) -> bool:
        """Return whether a skill's definition is gone from a searched directory."""
        searched = {Path(place).resolve() for place in skills.searched}
        return any(
            path.parent in searched or path.parent.parent in searched
            for path in self._gone
            if path.name == SKILL_FILE or path.name.endswith(AGENT_SUFFIX)
        )

    def _was_there(self, place: Path) -> bool:
        """Return whether a path exists, or was deleted since the commit."""
        if place.exists():
            return True
        found = Path(place).resolve()
        return any(found == path or found in path.parents for path in self._gone)
