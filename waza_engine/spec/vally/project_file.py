"""``.vally.yaml``: where a project's skills and evals are, and environments by name. The nearest counts."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import Field

from waza_engine.spec.block import misspelt
from waza_engine.spec.fields import AnyMap, SchemaKeywords, Text
from waza_engine.spec.vally.blocks import TextOrTexts, VallyBlock
from waza_engine.spec.vally.eval_models import Environment


class VallyPaths(VallyBlock):
    """Where files are, relative to `.vally.yaml`."""

    skills: TextOrTexts = Field(default=(), description="Folders of skills.", examples=[["skills"]])
    evals: TextOrTexts = Field(default=(), description="Folders of eval files.", examples=["evals"])
    eval_filenames: TextOrTexts = Field(
        default=(),
        alias="evalFilenames",
        description="Globs of the names of eval files.",
        examples=[["*.eval.yaml"]],
    )
    results: Text = Field(default="", description="The folder of results.", examples=["results"])


class VallySuite(VallyBlock):
    """A choice of evals and stimuli."""

    description: Text = Field(default="", description="The purpose of the suite.")
    filter: Annotated[
        dict[str, Any],
        SchemaKeywords(
            {"type": "object", "additionalProperties": {"type": ["string", "number", "boolean", "array"]}}
        ),
    ] = Field(
        default_factory=dict[str, Any],
        description="Tags by name: all keys must agree, with any of their values.",
        examples=[{"area": ["docs", "api"]}],
    )
    evals: TextOrTexts = Field(default=(), description="Globs of eval files.", examples=[["evals/**/*.yaml"]])


class VallyProject(VallyBlock):
    """Settings of a project that uses Vally."""

    place: ClassVar = "project"
    misspellings: ClassVar = misspelt({"environments": "environment", "suites": "suite", "paths": "path"})

    paths: VallyPaths | None = Field(
        default=None, description="Where skills, evals and results are.", examples=[{"skills": ["skills"]}]
    )
    environments: dict[str, Environment] = Field(
        default_factory=dict[str, Environment],
        description="Environments by name, which eval files refer to.",
        examples=[{"dotnet": {"commands": ["dotnet restore"]}}],
    )
    suites: dict[str, VallySuite] = Field(
        default_factory=dict[str, VallySuite],
        description="Choices of evals by name.",
        examples=[{"docs": {"filter": {"area": "docs"}}}],
    )
    plugins: AnyMap = Field(
        default_factory=dict[str, Any], description="Plug-ins: graders, executors, reporters, backends."
    )
    metadata: AnyMap = Field(
        default_factory=dict[str, Any], description="Facts that are stored with results."
    )
