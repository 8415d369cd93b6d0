"""The tools that an agent file allows: ``tools`` in the frontmatter of the ``.agent.md`` that is tested.

A suite that tests an agent need not write them down again: a grader is added that allows these and no
others, unless the suite has a ``tool_constraint`` of its own. An agent file that cannot be understood may be
the tested one, and what it forbids is not known: that is an error, never an agent without limits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from waza_engine.boundary import Boundary, suite_boundary
from waza_engine.files import is_named, names_in
from waza_engine.runs.agent.agent_skills import folders_in, listed_directories
from waza_engine.runs.loading.suite_on_disk import Suite
from waza_engine.spec.grader_entry import GraderEntry
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.skill_file import (
    AGENT_SUFFIX,
    SKILL_FILE,
    SkillFile,
    load_skill_file,
    name_without_frontmatter,
)
from waza_engine.spec.task_file import TaskFile

GRADER_NAME = "agent_tools_implicit"
"""Upstream's name of the grader that is added."""
_CONSTRAINT = "tool_constraint"


class AgentTools:
    """Tools that the tested agent of a suite allows in each task; every file is read once."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        self._known: dict[tuple[Path, ...], SkillFile | None] = {}

    def policy(self, task: TaskFile) -> str:
        """Return upstream's word for what is allowed, "" when no agent file is tested.

        Raises ``SuiteFileError`` for an agent file that cannot be understood, as ``grader`` does.
        """
        agent = self._agent(task)
        if agent is None:
            return ""
        return "unrestricted" if agent.tools is None else "allow_list" if agent.tools else "deny_all"

    def grader(self, task: TaskFile, entries: Sequence[GraderEntry]) -> GraderEntry | None:
        """Return the grader to add to those of a task, None for none."""
        agent = self._agent(task)
        if agent is None or agent.tools is None or any(entry.type == _CONSTRAINT for entry in entries):
            return None
        allowed = [{"tool": tool} for tool in agent.tools]
        return GraderEntry(name=GRADER_NAME, type=_CONSTRAINT, config={"allow_only": allowed})

    def _agent(self, task: TaskFile) -> SkillFile | None:
        if not self._suite.spec.skill:
            return None
        places = tuple(listed_directories(self._suite, task))
        if places not in self._known:
            self._known[places] = _agent_in(places, self._suite.spec.skill)
        return self._known[places]


def _agent_in(places: Sequence[Path], name: str) -> SkillFile | None:
    """Return the agent of a name; a skill of the same name comes first, and has no list of tools.

    Raises ``SuiteFileError`` when no file has the name, and one that may have it cannot be understood.
    """
    broken: SuiteFileError | None = None
    for path, within in _definitions(places):
        try:
            file = load_skill_file(path, within=within)
        except SuiteFileError as error:
            if path.name != SKILL_FILE:
                broken = broken or error
            continue
        if (file.name.strip() or name_without_frontmatter(path)).casefold() == name.casefold():
            return None if path.name == SKILL_FILE else file
    if broken is not None:
        raise broken
    return None


def _definitions(places: Sequence[Path]) -> Iterator[tuple[Path, Boundary]]:
    for place in places:
        within = suite_boundary(place)
        for folder in (place, *folders_in(place, within)):
            if is_named(folder / SKILL_FILE):
                yield folder / SKILL_FILE, within
            try:
                names = names_in(folder, within=within)
            except (OSError, ValueError):
                continue
            agents = (folder / name for name in names if name.endswith(AGENT_SUFFIX))
            yield from ((path, within) for path in agents if within.holds(path) and path.is_file())
