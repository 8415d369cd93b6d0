"""A judge, as graders see it: whatever asks a model. Executors make one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

DEFAULT_LIMIT_SECONDS = 120.0


class JudgeError(Exception):
    """The judge gave no answer; the message is for the author of the suite."""


class LostJudgeError(JudgeError):
    """The judge's provider gave no answer: that is not the suite's fault."""


class UnusableReplyError(LostJudgeError):
    """The judge refused, or its answer was cut: anything before that is invalid, too."""


@dataclass(frozen=True, slots=True)
class AgentTool:
    """A tool that a model may call: ``parameters`` is the JSON Schema of its arguments.

    ``call`` gets the arguments as they came (not validated) and returns the result for the model. It is
    called from another thread, one call at a time, and never raises.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    call: Callable[[Mapping[str, Any]], str]


@dataclass(frozen=True, slots=True)
class JudgeQuestion:
    """One question to a judge.

    ``session`` continues the agent's own session; otherwise the session is fresh and deleted afterwards. The
    judge works in ``workspace``, without skills and MCP servers. ``timeout_seconds`` is the longest that an
    answer may take.
    """

    prompt: str
    model: str = ""
    tools: Sequence[AgentTool] = ()
    session: str = ""
    workspace: Path | None = None
    reasoning_effort: str = ""
    timeout_seconds: float = DEFAULT_LIMIT_SECONDS


class Judge(Protocol):
    """Asks a model. Called from several threads at the same time."""

    def ask(self, question: JudgeQuestion) -> str:
        """Return the text of the answer. Raises ``JudgeError`` when there is none."""
        ...
