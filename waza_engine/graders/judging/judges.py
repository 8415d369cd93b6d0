"""Shared parts of graders that ask a model: their model, how they ask, and the time limit of an answer.

Architecture invariant: a judge never guesses. A missing rating is an error of the grader, never a score.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from waza_engine.graders.base import GraderConfig, GraderError, GradingContext, SurroundingsError
from waza_engine.graders.judge import (
    DEFAULT_LIMIT_SECONDS,
    AgentTool,
    JudgeError,
    JudgeQuestion,
    LostJudgeError,
    UnusableReplyError,
)
from waza_engine.graders.judging.replies import is_refusal, quoted_reply
from waza_engine.masking import masked
from waza_engine.spec.fields import PlainText, kind

_UNIT_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)", re.ASCII)
_DURATION = re.compile(rf"\+?(?:{_PART.pattern})+", re.ASCII)
_LONGEST_SECONDS = 7 * 24 * 3600.0


def seconds_of(written: str) -> float | None:
    """Return the seconds of a duration of Go or of a whole number; None for zero, less, and anything else.

    A week is the longest; no judge takes that long.
    """
    text = written.strip()
    if re.fullmatch(r"\+?[0-9]+", text):
        seconds = float(text)
    elif _DURATION.fullmatch(text):
        seconds = sum(float(number) * _UNIT_SECONDS[unit] for number, unit in _PART.findall(text))
    else:
        return None
    return min(seconds, _LONGEST_SECONDS) if seconds > 0 else None


LIMIT_VARIABLE = "WAZA_PROMPT_GRADER_TIMEOUT"


class JudgedConfig(GraderConfig):
    """The options of every judge."""

    model: Annotated[PlainText, kind("model")] | None = Field(
        default=None,
        description="The model of the judge. Default: `judge_model` of the eval, else the model of the run.",
        examples=["gpt-4o-mini"],
    )

    @property
    def votes(self) -> int:
        """Return how many times the judge rates one answer."""
        return 1


def ask(
    context: GradingContext,
    prompt: str,
    *,
    model: str | None,
    tools: Sequence[AgentTool] = (),
    continue_session: bool = False,
    reasoning_effort: str | None = None,
) -> str:
    """Ask the judge of a trial and return its answer.

    Raises:
        JudgeError: when there is no answer.
        GraderError: when there is no judge model.

    """
    if context.judge is None:
        raise GraderError("it needs a model to judge, and there is none; name one with `--judge-executor`")
    if continue_session and not context.session:
        raise GraderError(
            "`continue_session` needs the session of the agent, and there is none; leave it out to judge "
            "the answer in a session of its own"
        )
    question = JudgeQuestion(
        # A judge may be on another machine: it gets no credential that the agent has seen.
        prompt=masked(prompt),
        model=model or "",
        tools=tools,
        session=context.session if continue_session else "",
        workspace=context.workspace,
        reasoning_effort=reasoning_effort or "",
        timeout_seconds=limit_seconds(),
    )
    response = context.judge.ask(question)
    if is_refusal(response):
        raise UnusableReplyError(f"the judge refused to answer: {quoted_reply(response)}")
    return response


def without_judge(error: JudgeError) -> GraderError:
    """Return why a grader cannot grade that got no answer of its judge."""
    return (SurroundingsError if isinstance(error, LostJudgeError) else GraderError)(str(error))


def limit_seconds() -> float:
    """Return how long one answer of a judge may take."""
    return seconds_of(os.environ.get(LIMIT_VARIABLE, "")) or DEFAULT_LIMIT_SECONDS


def limit_warning() -> str | None:
    """Return the error in the time limit of the environment, None when it is valid."""
    written = os.environ.get(LIMIT_VARIABLE, "").strip()
    if not written or seconds_of(written):
        return None
    return (
        f"`{LIMIT_VARIABLE}` is `{written}`, which is no time above zero such as `90s`, `2m` or `120`; "
        f"judges get {DEFAULT_LIMIT_SECONDS:g} seconds"
    )
