"""Tool calls expected by patterns: their errors, the nearest calls, and proposals."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from waza_engine.graders.base import GraderError
from waza_engine.graders.config import GraderConfig
from waza_engine.graders.matching.matchers import ArgumentMatcher
from waza_engine.graders.matching.patterns import PatternError, check_syntax
from waza_engine.spec.fields import PlainText

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
            "What the arguments of that call are: by argument name, one matcher each. "
            "Upper and lower case differ."
        ),
        examples=[{"command": {"regex": "^git status"}}],
    )

    misspellings: ClassVar = {
        "name": "tool",
        "tool_name": "tool",
        "arguments": "args",
        "argument_match": "args",
    }


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
