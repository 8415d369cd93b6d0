"""The frontmatter of a ``SKILL.md``, for editors: a run reads name and description alone.

From the checks of upstream (``spec-…``) and the format of Agent Skills. Agents have keys of their own, so
unknown keys are not reported.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import ConfigDict, Field

from waza_engine.spec.block import Block
from waza_engine.spec.fields import Alternatives, Switch, Text, TextList
from waza_engine.spec.values import AnyMap, kind, severity

_NAME = r"^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$"
_AT_MOST_1024 = r"^[\s\S]{0,1023}(?:\S?\s*)$"


class SkillFrontmatter(Block):
    """The name of a skill, and when an agent should use it."""

    model_config = ConfigDict(extra="allow", frozen=True)
    first_keys: ClassVar = ("name", "description")
    misspellings: ClassVar = {
        "title": "name",
        "skill": "name",
        "desc": "description",
        "summary": "description",
    }

    name: Annotated[
        Text,
        kind("skill.name"),
        severity(
            "warning",
            pattern=_NAME,
            **{"x-waza-message": "must be at most 64 small letters, digits and single hyphens"},
        ),
    ] = Field(
        default="", description="What the skill is called, as its folder is.", examples=["code-explainer"]
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
        description="What the skill does and when to use it: all that an agent sees before it chooses it.",
        examples=["Explains code to newcomers. Use when somebody asks what code does."],
    )
    license: Text = Field(default="", description="Its licence, or the file that has it.", examples=["MIT"])
    compatibility: Annotated[Text | AnyMap, Alternatives()] = Field(
        default="", description="What it needs to work: an agent, programs, a network."
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
        default="", alias="argument-hint", description="What to write behind its name when a user calls it."
    )
    disable_model_invocation: Switch | None = Field(
        default=None,
        alias="disable-model-invocation",
        description="Whether only a user can call it.",
    )
    user_invocable: Switch | None = Field(
        default=None, alias="user-invocable", description="Whether a user can call it by its name."
    )
