"""A grader entry in a list of graders: its name, its type, its weight and its options.

Architecture invariant: the options stay a plain mapping here. They are validated when the grader is built
(``waza_engine.graders.registry.create``), so that a broken grader spoils its own score and nothing else.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import Field

from waza_engine.spec.block import Block, misspelt
from waza_engine.spec.fields import AnyMap, Number, Switch, Text, kind, severity
from waza_engine.spec.schema_version import after_0_38

NAME_DESCRIPTION = (
    "The grader's name: its key in the results and in the editor's scores. A later grader with the "
    "same name replaces the result of an earlier one, task graders included, so every name should occur once."
)
REF_DESCRIPTION = (
    "A grader of a package, as `<host>/<owner>/<repo>[/path][#export]@<version>`; only for graders of the "
    "eval file. `waza.lock` beside it pins the content, which is read from where `waza get` has put it and "
    "verified; nothing is downloaded. `name`, `weight` and the options in `config` win over the package's."
)
WEIGHT_DESCRIPTION = (
    "How much the grader counts in the weighted score: `3` counts three times, `0.5` half. A weight "
    "of zero or below counts as 1. The weight never decides whether a trial passes: all required graders "
    "must pass."
)


class GraderEntry(Block):
    """One grader: what it checks is decided by `type`, how by `config`."""

    recommended: ClassVar = (
        {
            "key": "name",
            "severity": "warning",
            "why": "its type is used instead, and upstream keeps one result of all graders without a name",
        },
    )
    misspellings: ClassVar = misspelt(
        {
            "name": ("id", "label", "title"),
            "type": "kind",
            "config": ("options", "params", "parameters", "settings", "arguments", "args", "with"),
            "weight": "importance",
        }
    )
    uncertain: ClassVar = frozenset({"with", "arguments", "args"})

    name: Annotated[Text, kind("grader.name")] = Field(default="", description=NAME_DESCRIPTION)
    type: Annotated[Text, kind("grader.type")] = Field(
        default="", description="The type of check; it decides which options `config` takes."
    )
    ref: Text = Field(
        default="",
        description=REF_DESCRIPTION,
        examples=["github.com/acme/graders#factuality@v1.0.0"],
        json_schema_extra=after_0_38(),
    )
    weight: Annotated[Number, severity("warning", exclusiveMinimum=0)] = Field(
        default=1.0, description=WEIGHT_DESCRIPTION, examples=[3.0, 0.5]
    )
    required: Switch = Field(
        default=True,
        description=(
            "`false` makes the grader advisory: it is graded, shown and counted in the score, and a trial "
            "passes without it. Upstream does not know this key; there the grader is required."
        ),
        examples=[False],
    )
    binary: Switch = Field(
        default=False,
        description=(
            "`true` scores 1 for a pass and 0 for everything else, whatever share of the checks passed. "
            "Upstream does not know this key."
        ),
        examples=[True],
    )
    config: AnyMap = Field(default_factory=dict[str, Any], description="The options of this grader type.")
    assertions: Any = Field(default=None, description="Older place of `config.assertions`.")
    rubric: Any = Field(default=None, description="Older place of `config.rubric`.")
    model: Any = Field(default=None, description="Older place of `config.model`.")
    script: Any = Field(default=None, description="Older place of `config.script`.")
