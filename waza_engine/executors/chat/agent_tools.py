"""Tools that a model calls through the engine, and the tool ``skill`` that reads a skill by its name."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from waza_engine.boundary import suite_boundary
from waza_engine.files import names_in
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.skill_file import SkillFile, definition_in, load_skill_file, name_without_frontmatter
from waza_engine.vocabulary import SkillInvocation


class ToolError(Exception):
    """The tool failed; the message tells the model why."""


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """The result of a tool for the model. ``skill`` is the skill that the call loaded."""

    text: str
    success: bool = True
    skill: SkillInvocation | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of the agent: ``parameters`` is the JSON Schema of its arguments.

    ``call`` gets the arguments as the model wrote them, not validated. Raises ``ToolError``.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    call: Callable[[Mapping[str, Any]], ToolOutcome]


def parameters(required: Sequence[str] = (), **properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of arguments."""
    return {"type": "object", "properties": properties, "required": list(required)}


def text_argument(arguments: Mapping[str, Any], name: str, default: str | None = None) -> str:
    """Return an argument that is a string. Raises ``ToolError``."""
    value = arguments.get(name, default)
    if value is None:
        raise ToolError(f"the argument `{name}` is missing")
    if not isinstance(value, str):
        raise ToolError(f"the argument `{name}` must be a text")
    return value


def skill_tools(directories: Sequence[Path]) -> list[Tool]:
    """Return the tool for the skills in these folders (or that these folders are), nothing without any.

    A definition that cannot be read is left out: the run reports it elsewhere.
    """
    skills: dict[str, tuple[SkillFile, Path]] = {}
    for path in _skill_files(directories):
        try:
            skill = load_skill_file(path, within=suite_boundary(path.parent))
        except SuiteFileError:
            continue
        skills.setdefault(skill.name.strip() or name_without_frontmatter(path), (skill, path))
    return [_tool(skills)] if skills else []


def names_by_folder(directories: Sequence[Path]) -> dict[str, str]:
    """Return the names of the skills, by the names of their folders."""
    found: dict[str, str] = {}
    for path in _skill_files(directories):
        with contextlib.suppress(SuiteFileError):
            name = load_skill_file(path, within=suite_boundary(path.parent)).name.strip()
            found[path.parent.resolve().name] = name or name_without_frontmatter(path)
    return found


def skill_folders(directories: Sequence[Path]) -> list[Path]:
    """Return the folders of the skills."""
    return [path.parent for path in _skill_files(directories)]


def _skill_files(directories: Sequence[Path]) -> Iterator[Path]:
    for directory in directories:
        own = definition_in(directory)
        if own is not None:
            yield own
            continue
        try:
            within = suite_boundary(directory)
            listed = (directory / name for name in names_in(directory, within=within))
            below = [place for place in listed if within.holds(place) and place.is_dir()]
        except OSError:
            continue
        yield from (found for folder in below if (found := definition_in(folder)) is not None)


def _tool(skills: Mapping[str, tuple[SkillFile, Path]]) -> Tool:
    known = ", ".join(f"`{name}`" for name in skills)

    def call(arguments: Mapping[str, Any]) -> ToolOutcome:
        asked = text_argument(arguments, "skill").strip()
        invoked = SkillInvocation(asked.casefold())
        name = next((name for name in skills if invoked.is_of(name.casefold())), None)
        if name is None:
            raise ToolError(f"there is no skill `{asked}`; there are {known}")
        skill, path = skills[name]
        text = f"Skill `{name}`. Its files are in {path.parent}\n\n{skill.body}"
        return ToolOutcome(text, skill=SkillInvocation(name, str(path)))

    listed = "\n".join(
        f"- {name}: {' '.join(skill.description.split())}" for name, (skill, _) in skills.items()
    )
    return Tool(
        name="skill",
        description=(
            "Load the instructions of a skill, when the task is one that its description speaks of. "
            f"Available skills:\n{listed}"
        ),
        parameters=parameters(
            ["skill"], skill={"type": "string", "enum": list(skills), "description": "The skill's name."}
        ),
        call=call,
    )
