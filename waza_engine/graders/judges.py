"""What graders that ask a model share.

Architecture invariant: a judge never guesses. Without an executor that has a model there is no score, only an
error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, Protocol

from pydantic import Field

from waza_engine.graders.base import GraderError
from waza_engine.graders.config import GraderConfig
from waza_engine.graders.fields import PlainText


class JudgeError(Exception):
    """There is no answer of the judge; the text is for the author of the suite."""


@dataclass(frozen=True, slots=True)
class AgentTool:
    """A tool that a model may call: ``parameters`` is the JSON Schema of its arguments.

    ``call`` gets the arguments as they came (not validated) and returns the text for the model. It is called
    from another thread, one call at a time, and never raises.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    call: Callable[[Mapping[str, Any]], str]


@dataclass(frozen=True, slots=True)
class JudgeQuestion:
    """One question to a judge.

    ``session`` continues the agent's own session; otherwise the session is fresh and deleted afterwards. The
    judge works in ``workspace``, without skills and MCP servers.
    """

    prompt: str
    model: str = ""
    tools: Sequence[AgentTool] = ()
    session: str = ""
    workspace: Path | None = None
    reasoning_effort: str = ""


class Judge(Protocol):
    """Asks a model. Called from several threads at the same time."""

    def ask(self, question: JudgeQuestion) -> str:
        """Return the text of the answer. Raises ``JudgeError`` when there is none."""
        ...


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
