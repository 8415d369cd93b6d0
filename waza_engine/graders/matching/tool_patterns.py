"""Tools and their calls by patterns, as the `tool_constraint` grader means them."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from waza_engine.graders.matching.expected_calls import ExpectedCall, check_call, check_pattern
from waza_engine.graders.matching.matchers import matches, text_of
from waza_engine.graders.matching.patterns import found
from waza_engine.graders.matching.tool_names import names_tool
from waza_engine.spec.fields import PlainText
from waza_engine.vocabulary import ToolCall

PATTERNS = {"command_pattern": "command", "skill_pattern": "skill", "path_pattern": "path"}
"""The keys that have patterns, and the arguments of a call that these are for."""


class ToolPattern(ExpectedCall):
    """A tool call by patterns: it matches when one single call satisfies all of them."""

    command_pattern: PlainText | None = Field(
        default=None,
        description="A regular expression for the argument `command`; upper and lower case are the same.",
        examples=["azd\\s+up"],
        json_schema_extra={"x-waza-kind": "regex", "x-waza-any-case": True},
    )
    skill_pattern: PlainText | None = Field(
        default=None,
        description="A regular expression for the argument `skill`; upper and lower case are the same.",
        examples=["^azure-deploy$"],
        json_schema_extra={"x-waza-kind": "regex", "x-waza-any-case": True},
    )
    path_pattern: PlainText | None = Field(
        default=None,
        description="A regular expression for the argument `path`; upper and lower case are the same.",
        examples=["^src/"],
        json_schema_extra={"x-waza-kind": "regex", "x-waza-any-case": True},
    )
    misspellings: ClassVar = {
        **ExpectedCall.misspellings,
        "command": "command_pattern",
        "path": "path_pattern",
        "path_regex": "path_pattern",
        "command_regex": "command_pattern",
        "skill": "skill_pattern",
    }
    uncertain: ClassVar = frozenset({"path", "skill", "command"})


class AllowedCall(ToolPattern):
    """A tool call that is allowed: a tool by its name, narrowed by patterns."""

    tool: PlainText = Field(
        description=(
            "The tool's name, no pattern. Upper and lower case are the same, and so are `read` and `view`, "
            "`write` and `edit`, `fetch` and `web_fetch`."
        ),
        examples=["bash"],
        pattern=r"\S",
        json_schema_extra={"x-waza-kind": "tool.name"},
    )


def check_patterns(place: str, entry: ToolPattern) -> None:
    """Raise ``GraderError`` for an invalid pattern or schema; ``place`` names the entry."""
    check_call(place, entry)
    for key in PATTERNS:
        if pattern := getattr(entry, key):
            check_pattern(f"{place}.{key}", pattern)


def call_matches(entry: Any, call: ToolCall) -> bool:
    """Return whether a call matches an entry: a string is an exact name, a block has patterns."""
    if not isinstance(entry, ToolPattern):
        return call.name == entry
    # Upstream trims the pattern of the name: spaces around it must not let a forbidden tool pass.
    if not found(entry.tool.strip(), call.name, ignore_case=True):
        return False
    return _arguments_match(entry, call)


def _arguments_match(entry: ToolPattern, call: ToolCall) -> bool:
    for key, argument in PATTERNS.items():
        pattern = getattr(entry, key)
        if pattern and not found(pattern, argument_text(call, argument), ignore_case=True):
            return False
    return matches(call, entry.args)


def argument_text(call: ToolCall, name: str) -> str:
    """Return an argument as a string, ignoring the case of its name, as upstream does."""
    named = (value for key, value in call.arguments.items() if key.lower() == name)
    return text_of(call.arguments[name] if name in call.arguments else next(named, None))


def allows(entry: Any, call: ToolCall) -> bool:
    """Return whether an entry of an allow list, in which a tool is a name, allows a call."""
    if not isinstance(entry, ToolPattern):
        return names_tool(entry, call.name)
    return names_tool(entry.tool, call.name) and _arguments_match(entry, call)


def label_of(entry: Any) -> str:
    """Return an entry in one line, as reasons and details name it."""
    if not isinstance(entry, ToolPattern):
        return str(entry)
    parts = [f"{key}: {getattr(entry, key)}" for key in PATTERNS if getattr(entry, key)]
    if entry.args:
        parts.append(f"args: {', '.join(entry.args)}")
    return f"{entry.tool} ({', '.join(parts)})" if parts else entry.tool
