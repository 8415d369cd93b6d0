"""``SKILL.md``: the frontmatter that tells an agent when to use the skill, and the text it then follows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field, ValidationError

from waza_engine.graders.fields import Text
from waza_engine.spec.block import Block
from waza_engine.spec.explain import location_of, sentence
from waza_engine.spec.problems import SuiteFileError
from waza_engine.spec.values import AnyMap
from waza_engine.spec.yaml_reader import parse_yaml, read_text

_OPENING = "---"
_CLOSING = re.compile(r"^---.*$", re.MULTILINE)


class SkillFrontmatter(Block):
    """What the agent reads of every skill before it decides to use one."""

    recommended: ClassVar = (
        {"key": "name", "severity": "warning", "why": "the agent and the suites know the skill by its name"},
        {"key": "description", "severity": "warning", "why": "the agent decides by it when to use the skill"},
    )

    name: Text = Field(
        default="",
        description=(
            "Lowercase words joined by hyphens, at most 64 characters; the same as the directory's name."
        ),
        examples=["code-explainer"],
    )
    description: Text = Field(
        default="",
        description="What the skill does and when to use it, at most 1024 characters.",
        examples=["Explains code. USE FOR: explain this function. DO NOT USE FOR: writing code."],
    )
    license: Text = Field(default="", description="The licence.", examples=["MIT"])
    compatibility: Any = Field(default=None, description="What the skill needs to run.")
    allowed_tools: Any = Field(
        default=None, alias="allowed-tools", description="Tools the skill may use without asking."
    )
    metadata: AnyMap = Field(
        default_factory=dict[str, Any],
        description="Free facts, such as `version`.",
        examples=[{"version": "1.0"}],
    )


@dataclass(frozen=True, slots=True)
class SkillFile:
    """A skill: its frontmatter and the text below it."""

    frontmatter: SkillFrontmatter
    body: str

    @property
    def name(self) -> str:
        """The skill's name, empty when the frontmatter gives none."""
        return self.frontmatter.name

    @property
    def description(self) -> str:
        """The skill's description, empty when the frontmatter gives none."""
        return self.frontmatter.description


def load_skill_file(path: Path) -> SkillFile:
    """Return a skill; keys that the model does not know are left out. Raises ``SuiteFileError``."""
    text = read_text(path)
    if not text.strip():
        raise SuiteFileError(path, 1, "the file is empty")
    if not text.startswith(_OPENING):
        return SkillFile(SkillFrontmatter(), text)
    closing = _CLOSING.search(text, len(_OPENING))
    if closing is None:
        raise SuiteFileError(path, 1, "the frontmatter has no closing line `---`")
    first_line_end = text.find("\n") + 1
    # The opening line is kept as an empty one, so that lines of the frontmatter are lines of the file.
    file = parse_yaml("\n" + text[first_line_end : closing.start()], path)
    value = {} if file.value is None else file.value
    if not isinstance(value, dict):
        raise SuiteFileError(path, 2, "the frontmatter must be a block of keys, one `key: value` a line")
    try:
        frontmatter = SkillFrontmatter.model_validate(value, context={"unknown_keys": []})
    except ValidationError as error:
        finding = error.errors(include_url=False)[0]
        location = location_of(finding, value)
        raise SuiteFileError(path, file.line_of(location), sentence(finding, location)) from None
    return SkillFile(frontmatter, text[closing.end() :].lstrip("\r\n"))
