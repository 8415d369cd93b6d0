"""``SKILL.md``: the frontmatter that tells an agent when to use the skill, and its instructions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, cast

from pydantic import ConfigDict, Field

from waza_engine.boundary import Boundary
from waza_engine.files import is_named
from waza_engine.spec.block import Block, misspelt
from waza_engine.spec.fields import Alternatives, AnyMap, Switch, Text, TextList, kind, plain_text, severity
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.reading.yaml_reader import YamlFile, parse_yaml, read_text

SKILL_FILE = "SKILL.md"
AGENT_SUFFIX = ".agent.md"
_OPENING = "---"
_CLOSING = re.compile(r"^---.*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SkillFile:
    """A skill: the fields of its frontmatter ("" if missing) and the text below it.

    ``tools`` are those that an agent file allows, None when it does not restrict them.
    """

    name: str
    description: str
    body: str
    tools: tuple[str, ...] | None = None


def definition_in(folder: Path) -> Path | None:
    """Return the file that makes a folder a skill: ``SKILL.md``, else its first ``.agent.md``."""
    if is_named(folder / SKILL_FILE):
        return folder / SKILL_FILE
    try:
        agents = sorted(path for path in folder.glob(f"*{AGENT_SUFFIX}") if path.is_file())
    except OSError:
        return None
    return agents[0] if agents else None


def name_without_frontmatter(definition: Path) -> str:
    """Return the name of a skill without one in its frontmatter: its folder's, or its agent file's."""
    if definition.name == SKILL_FILE:
        return definition.parent.name
    return definition.name.removesuffix(AGENT_SUFFIX)


def load_skill_file(path: Path, *, within: Boundary | None = None) -> SkillFile:
    """Return a skill; other keys of its frontmatter do not matter. Raises ``SuiteFileError``."""
    text = read_text(path, within=within)
    if not text.strip():
        raise SuiteFileError(path, 1, "the file is empty")
    if not text.startswith(_OPENING):
        return SkillFile("", "", text)
    opening_end = text.find("\n") + 1
    closing = _CLOSING.search(text, opening_end or len(text))
    if closing is None:
        raise SuiteFileError(path, 1, "the frontmatter has no closing line `---`")
    # The opening line is kept as an empty one, so that lines of the frontmatter are lines of the file.
    frontmatter = parse_yaml("\n" + text[opening_end : closing.start()], path)
    if not isinstance(frontmatter.value, dict | None):
        raise SuiteFileError(path, 2, "the frontmatter must be a block of keys, one `key: value` a line")
    name, description = _text(frontmatter, "name"), _text(frontmatter, "description")
    return SkillFile(name, description, text[closing.end() :].lstrip("\r\n"), _tools(frontmatter.value))


def _tools(frontmatter: object) -> tuple[str, ...] | None:
    """Return a list of tools, also one that is written in one string; None for anything else."""
    written = cast("dict[str, object]", frontmatter or {}).get("tools")
    if isinstance(written, str):
        written = written.split(",")
    if not isinstance(written, list):
        return None
    names = (str(plain_text(each)).strip() for each in cast("list[object]", written) if each is not None)
    return tuple(name for name in names if name)


def _text(frontmatter: YamlFile, key: str) -> str:
    value = frontmatter.value.get(key) if isinstance(frontmatter.value, dict) else None
    if isinstance(value, list | dict):
        raise SuiteFileError(frontmatter.path, frontmatter.line_of([key]), f"`{key}` must be text")
    return "" if value is None else str(plain_text(value))


_NAME = r"^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$"
_AT_MOST_1024 = r"^[\s\S]{0,1023}(?:\S?\s*)$"


class SkillFrontmatter(Block):
    """The name of a skill, and when an agent should use it."""

    model_config = ConfigDict(extra="allow", frozen=True)
    first_keys: ClassVar = ("name", "description")
    misspellings: ClassVar = misspelt({"name": ("title", "skill"), "description": ("desc", "summary")})

    name: Annotated[
        Text,
        kind("skill.name"),
        severity(
            "warning",
            pattern=_NAME,
            **{"x-waza-message": "must be at most 64 small letters, digits and single hyphens"},
        ),
    ] = Field(
        default="",
        description="The name of the skill, which is also that of its folder.",
        examples=["code-explainer"],
    )
    description: Annotated[
        Text,
        severity(
            "warning",
            pattern=_AT_MOST_1024,
            **{"x-waza-message": "must have at most 1024 characters; upstream calls the skill invalid"},
        ),
    ] = Field(
        default="",
        description="The work of the skill and when to use it: all that an agent sees before it chooses it.",
        examples=["Explains code to newcomers. Use when somebody asks what code does."],
    )
    license: Text = Field(default="", description="Its licence, or the file that has it.", examples=["MIT"])
    compatibility: Annotated[Text | AnyMap, Alternatives()] = Field(
        default="", description="Requirements: an agent, programs, a network."
    )
    metadata: AnyMap | None = Field(
        default=None, description="Anything else about it, such as its `version` and `author`."
    )
    allowed_tools: Annotated[Text | TextList, Alternatives()] = Field(
        default="",
        alias="allowed-tools",
        description="The tools that the agent may use without asking.",
        examples=[["Read", "Grep"]],
    )
    version: Text = Field(
        default="", description="Its version; `metadata` is the place that agents agree on."
    )
    model: Text = Field(default="", description="The model that carries it out, for agents that can choose.")
    argument_hint: Annotated[Text | TextList, Alternatives()] = Field(
        default="",
        alias="argument-hint",
        description="The arguments to write after its name when a user calls it.",
    )
    disable_model_invocation: Switch | None = Field(
        default=None,
        alias="disable-model-invocation",
        description="Let only a user call it.",
    )
    user_invocable: Switch | None = Field(
        default=None, alias="user-invocable", description="Let a user call it by its name."
    )
