"""Tools and their calls by names and patterns, as graders of tool calls describe them."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import Field

from waza_engine.graders.base import GraderConfig, GraderError
from waza_engine.graders.matching.matchers import ArgumentMatcher, matches, text_of
from waza_engine.graders.matching.patterns import PatternError, check_syntax, is_match
from waza_engine.spec.block import misspelt
from waza_engine.spec.fields import PlainText, kind
from waza_engine.vocabulary import ToolCall

_SAME_TOOLS = {
    **dict.fromkeys(("readfile", "fileread", "view"), "read"),
    **dict.fromkeys(("writefile", "filewrite", "edit"), "write"),
    "runcommand": "bash",
    "web_fetch": "fetch",
}


def names_tool(written: str, called: str) -> bool:
    """Return whether a name in a list of allowed tools means a tool that was called.

    Agents call the same tool by several names. ``builtin:`` before a name is ignored; after ``mcp:`` and
    ``custom:`` the name counts as it is written.
    """
    wanted, actual = written.strip().lower(), called.strip().lower()
    source, _, rest = wanted.partition(":")
    if source in ("mcp", "custom") and ":" not in actual:
        return rest == actual
    return _canonical(wanted) == _canonical(actual)


def _canonical(name: str) -> str:
    plain = name.removeprefix("builtin:")
    return _SAME_TOOLS.get(plain, plain)


NO_CALLS = "no tool was called"


class ExpectedCall(GraderConfig):
    """One call that must have happened: a tool, and its arguments."""

    tool: PlainText = Field(
        description=(
            "A regular expression (RE2) for the tool's name, found anywhere in it; "
            "upper and lower case are the same. Write `^bash$` for exactly that tool."
        ),
        examples=["^bash$"],
        pattern=r"\S",
        json_schema_extra={"x-waza-kind": "regex", "x-waza-any-case": True},
    )
    args: dict[str, ArgumentMatcher] = Field(
        default_factory=dict[str, ArgumentMatcher],
        description=(
            "The arguments of that call: by argument name, one matcher each. Upper and lower case differ."
        ),
        examples=[{"command": {"regex": "^git status"}}],
    )

    misspellings: ClassVar = misspelt(
        {"tool": ("name", "tool_name"), "args": ("arguments", "argument_match")}
    )


def check_call(place: str, expected: ExpectedCall) -> None:
    """Raise ``GraderError`` when a pattern or schema of an expected call is invalid."""
    check_pattern(f"{place}.tool", expected.tool)
    for argument, matcher in expected.args.items():
        matcher.check_patterns(f"{place}.args.{argument}")


def check_pattern(place: str, pattern: str) -> None:
    """Raise ``GraderError`` when a pattern of the configuration is invalid."""
    try:
        check_syntax(pattern)
    except PatternError as error:
        raise GraderError(f"`{place}`: {error}") from None


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
        **misspelt(
            {
                "command_pattern": ("command", "command_regex"),
                "path_pattern": ("path", "path_regex"),
                "skill_pattern": "skill",
            }
        ),
    }
    uncertain: ClassVar = frozenset({"path", "skill", "command"})


class AllowedCall(ToolPattern):
    """A tool call that is allowed: a tool by its name, narrowed by patterns."""

    tool: Annotated[PlainText, kind("tool.name")] = Field(
        description=(
            "The tool's name, no pattern. Upper and lower case are the same, and so are `read` and `view`, "
            "`write` and `edit`, `fetch` and `web_fetch`."
        ),
        examples=["bash"],
        pattern=r"\S",
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
    if not is_match(entry.tool.strip(), call.name, ignore_case=True):
        return False
    return _arguments_match(entry, call)


def _arguments_match(entry: ToolPattern, call: ToolCall) -> bool:
    for key, argument in PATTERNS.items():
        pattern = getattr(entry, key)
        if pattern and not is_match(pattern, argument_text(call, argument), ignore_case=True):
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
