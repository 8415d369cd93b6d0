"""Instructions for an agent besides the prompt: tested skill, list of skills, instruction files.

The content is that of upstream; the wording is ours.
"""

from __future__ import annotations

from collections.abc import Sequence

from waza_engine.executors.base import WorkspaceFile
from waza_engine.runs.agent.skills import Skill, SkillSet
from waza_engine.runs.agent.workspace import WorkspaceError
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.yaml_reader import read_text


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
