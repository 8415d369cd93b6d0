"""Set up the agent of a run besides prompt and workspace: skills, instructions, MCP servers, limits.

One setup serves all trials and trigger prompts of a run.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from waza_engine.executors.base import ExecutionRequest
from waza_engine.mcp.servers import Server, agent_servers
from waza_engine.runs.agent.command_mocks import command_folder, command_programs
from waza_engine.runs.agent.instructions import instructions_of
from waza_engine.runs.agent.skills import SkillSet, check_required, suite_skills, task_skills
from waza_engine.runs.agent.workspace import Workspace
from waza_engine.runs.loading.suite import Suite
from waza_engine.spec.task_file import TaskFile

_SkillList = tuple[tuple[str, ...], bool]
"""A task's list of skill directories, and whether it is written."""


@dataclass(frozen=True, slots=True)
class AgentSetup:
    """The setup of a run. It is read once: skills that a hook makes must be there before the first task."""

    suite: Suite
    model: str = ""
    skills: SkillSet = field(default_factory=SkillSet)
    mcp_servers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    _of_tasks: dict[_SkillList, SkillSet] = field(default_factory=dict[_SkillList, SkillSet])

    def request(self, prompt: str, workspace: Workspace, task: TaskFile) -> ExecutionRequest:
        """Return the first request of a task.

        Raises ``WorkspaceError`` for an instruction file that cannot be read.
        """
        config = self.suite.spec.config
        skills = self.skills_of(task)
        first_event = task.first_event_timeout_seconds
        return ExecutionRequest(
            prompt=prompt,
            workspace=workspace.directory,
            workdir=task.inputs.workdir or "",
            # As written: upstream does not replace a missing name with the id either.
            task_name=task.name,
            task_description=task.description,
            context=task.inputs.context,
            files=workspace.files,
            model=self.model,
            skill=self.suite.spec.skill,
            skill_directories=skills.directories,
            timeout_seconds=float(task.timeout_seconds or config.timeout_seconds),
            first_event_timeout_seconds=float(
                config.first_event_timeout_seconds if first_event is None else first_event
            ),
            instructions=instructions_of(
                skills,
                workspace.instruction_files,
                tested=self.suite.spec.skill,
                with_body=config.inject_skill_body,
                routed=config.trigger_skill_routing,
            ),
            mcp_servers=self.mcp_servers,
            reasoning_effort=config.reasoning_effort or "",
        )

    def trigger_request(self, prompt: str, skill: str, workspace: Workspace) -> ExecutionRequest:
        """Return the request of a trigger prompt for a skill.

        The body of the tested skill is not in its instructions: the question is whether the agent loads it.
        """
        config = self.suite.spec.config
        return ExecutionRequest(
            prompt=prompt,
            workspace=workspace.directory,
            model=self.model,
            skill=skill,
            skill_directories=self.skills.directories,
            timeout_seconds=float(config.timeout_seconds),
            first_event_timeout_seconds=float(config.first_event_timeout_seconds),
            instructions=instructions_of(self.skills, workspace.instruction_files, with_body=False),
            mcp_servers=self.mcp_servers,
            stop_at_skill=skill,
            commands=command_folder(self.suite),
        )

    def skills_of(self, task: TaskFile) -> SkillSet:
        """Return the skills of a task; a list is searched once a run."""
        listed = (task.skill_directories, "skill_directories" in task.model_fields_set)
        if listed not in self._of_tasks:
            self._of_tasks[listed] = task_skills(self.suite, task, self.skills)
        return self._of_tasks[listed]


@contextlib.contextmanager
def agent_setup(suite: Suite, model: str, warn: Callable[[str], None]) -> Generator[AgentSetup]:
    """Set up the agent, and keep the files of MCP mocks during the block.

    Raises ``SuiteError`` when a required skill is not found.
    """
    skills = suite_skills(suite)
    for warning in skills.warnings:
        warn(warning)
    check_required(suite, skills)
    servers, warnings = agent_servers(suite.spec.config.mcp_servers, suite.directory)
    for warning in warnings:
        warn(warning)
    with command_programs(suite, warn), _mocked(servers, suite, warn) as servers:
        yield AgentSetup(suite, model, skills, servers)


@contextlib.contextmanager
def _mocked(
    servers: Mapping[str, Server], suite: Suite, warn: Callable[[str], None]
) -> Generator[Mapping[str, Server]]:
    """Replace real servers by mocks of the same name, with files in a directory of the block.

    A broken mock leaves no server of its name: a mocked server must never be called.
    """
    if not suite.spec.mcp_mocks:
        yield servers
        return
    # Few suites have any, and the argument matchers take long to load.
    from waza_engine.mcp.mocks import load_mocks, server_of

    mocks, broken, complaints = load_mocks(suite.spec.mcp_mocks, suite.directory)
    for complaint in complaints:
        warn(complaint)
    started = {name: server for name, server in servers.items() if name not in broken}
    with tempfile.TemporaryDirectory(prefix="waza-mocks-", ignore_cleanup_errors=True) as folder:
        for number, mock in enumerate(mocks, 1):
            file = Path(folder, f"{number}.json")
            mock.write(file)
            started[mock.name] = server_of(file)
        yield started
