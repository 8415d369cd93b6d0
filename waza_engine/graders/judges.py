"""What graders that ask a model share.

Architecture invariant: a judge never guesses. Without an executor that has a model there is no score, only an
error.
"""

from __future__ import annotations

from typing import NoReturn

from pydantic import Field

from waza_engine.graders.base import GraderError
from waza_engine.graders.config import GraderConfig
from waza_engine.graders.fields import PlainText


class JudgedConfig(GraderConfig):
    """What every judge is told."""

    model: PlainText | None = Field(
        default=None,
        description="The model of the judge. Default: `judge_model` of the eval, else the model of the run.",
        examples=["gpt-4o-mini"],
        json_schema_extra={"x-waza-kind": "model"},
    )


def no_judge(type_name: str) -> NoReturn:
    """Say that nothing can judge yet. Raises ``GraderError``, always."""
    raise GraderError(
        f"`{type_name}` needs an executor with a model to judge, which this version does not have"
    )
