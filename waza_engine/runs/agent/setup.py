"""Set up the agent of a run besides prompt and workspace: skills, instructions, MCP servers, limits.

One setup serves all trials and trigger prompts of a run.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from waza_engine.executors.executor import ExecutionRequest, WorkspaceFile
from waza_engine.mcp.servers import Server, agent_servers
from waza_engine.runs.agent.agent_skills import Skill, SkillSet, check_required, suite_skills, task_skills
from waza_engine.runs.agent.command_mocks import command_programs
from waza_engine.runs.agent.trial_workspace import Workspace, WorkspaceError
from waza_engine.runs.loading.suite_on_disk import Suite
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.yaml_reader import read_text
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


def instructions_of(
    skills: SkillSet,
    instruction_files: Sequence[WorkspaceFile],
    *,
    tested: str = "",
    with_body: bool = True,
    routed: bool = False,
) -> str:
    """Return the instructions, or an empty string if there are none.

    ``tested`` is the skill whose whole definition is added, unless ``with_body`` is false; ``routed`` then
    asks the agent to load it. Raises ``WorkspaceError`` for an instruction file that cannot be read.
    """
    parts: list[str] = []
    skill = skills.named(tested) if tested and with_body else None
    if skill is not None and skill.text.strip():
        parts.append(_body(skill))
    if tested and routed and not with_body and not skills.switched_off:
        parts.append(
            f"When the task is one that the skill `{tested}` is for, load that skill before you begin."
        )
    if skills.skills:
        parts.append(_list(skills.skills))
    parts += [_file(file) for file in instruction_files]
    return "\n\n".join(parts)


def _body(skill: Skill) -> str:
    return (
        f'<skill name="{skill.name}" directory="{skill.path.parent}">\n'
        f"{skill.text.strip()}\n"
        "</skill>\n"
        "Follow this skill where it applies; paths in it start at its directory."
    )


def _list(skills: Sequence[Skill]) -> str:
    lines = dict.fromkeys(
        f"- {skill.name}: {skill.description}" if skill.description else f"- {skill.name}" for skill in skills
    )
    return "Skills at hand:\n" + "\n".join(lines)


def _file(file: WorkspaceFile) -> str:
    try:
        text = read_text(file.place)
    except SuiteFileError as error:
        raise WorkspaceError(f"`instruction_files`: {file.path}: {error.message}") from None
    return f'<instructions file="{file.path}">\n{text.strip()}\n</instructions>'
