"""Tools that a model calls through the engine, and the results of the calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from waza_engine.vocabulary import SkillInvocation


class ToolError(Exception):
    """The tool failed; the message tells the model why."""


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """The result of a tool for the model. ``skill`` is the skill that the call loaded."""

    text: str
    success: bool = True
    skill: SkillInvocation | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of the agent: ``parameters`` is the JSON Schema of its arguments.

    ``call`` gets the arguments as the model wrote them, not validated. Raises ``ToolError``.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    call: Callable[[Mapping[str, Any]], ToolOutcome]


def parameters(required: Sequence[str] = (), **properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of arguments."""
    return {"type": "object", "properties": properties, "required": list(required)}


def text_argument(arguments: Mapping[str, Any], name: str, default: str | None = None) -> str:
    """Return an argument that is a string. Raises ``ToolError``."""
    value = arguments.get(name, default)
    if value is None:
        raise ToolError(f"the argument `{name}` is missing")
    if not isinstance(value, str):
        raise ToolError(f"the argument `{name}` must be a text")
    return value


def shortened(text: str, most: int) -> str:
    """Return at most about ``most`` characters of a string: its beginning and its end."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[-half:]}"
