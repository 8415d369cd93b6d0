"""``SKILL.md``: the frontmatter that tells an agent when to use the skill, and its instructions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from waza_engine.boundary import Boundary
from waza_engine.files import is_named
from waza_engine.spec.fields import plain_text
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
