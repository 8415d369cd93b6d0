"""The `tool_calls` grader: which tools the agent called, how often, and with which arguments."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

from pydantic import Field

from waza_engine.counting import counted
from waza_engine.graders.base import Grader, GraderConfig, GradingContext, Verdict, verdict_of_checks
from waza_engine.graders.behavior import at_most, tool_name_checks
from waza_engine.graders.matching.matchers import matches
from waza_engine.graders.matching.patterns import PatternError, is_match
from waza_engine.graders.matching.tool_patterns import (
    ExpectedCall,
    check_call,
)
from waza_engine.graders.registry import register
from waza_engine.spec.block import Conflict, Given, misspelt
from waza_engine.spec.fields import (
    Alternatives,
    Limit,
    ListOf,
    ListOfBlocks,
    PlainText,
    SchemaKeywords,
    TextOrBlock,
    ToolNameList,
)
from waza_engine.vocabulary import Check, ToolCall


class CallPattern(GraderConfig):
    """A pattern for one call, in the older form."""

    pattern: PlainText = Field(
        description=(
            "A regular expression over the tool's name and its arguments; upper and lower case are the same."
        ),
        examples=["azd up"],
        min_length=1,
        json_schema_extra={"x-waza-kind": "regex", "x-waza-any-case": True},
    )

    misspellings: ClassVar = misspelt({"pattern": ("regex", "match", "command", "name", "tool", "tool_name")})
    # A pattern is searched in the arguments, too.
    uncertain: ClassVar = frozenset({"command", "name", "tool", "tool_name"})


PatternEntries = ListOfBlocks[
    Annotated[
        TextOrBlock[Annotated[PlainText, SchemaKeywords({"x-waza-any-case": True})], CallPattern],
        Alternatives("regex"),
    ]
]


class ToolCallsConfig(GraderConfig):
    """Either names and counts, or (in older suites) patterns."""

    required_tools: ToolNameList = Field(
        default=(), description="Exact names of tools that must be called.", examples=[["bash", "edit"]]
    )
    forbidden_tools: ToolNameList = Field(
        default=(), description="Exact names of tools that must not be called.", examples=[["web_fetch"]]
    )
    min_calls: Limit | None = Field(default=None, description="The fewest tool calls allowed.", examples=[1])
    max_calls: Limit | None = Field(
        default=None,
        description=(
            "The most tool calls allowed. `0` allows none (in the older pattern form it means no limit)."
        ),
        examples=[20],
    )
    expect: Annotated[tuple[ExpectedCall, ...], ListOf(texts=False)] = Field(
        default=(), description="Calls that must have happened, with their arguments; each is one check."
    )
    required: PatternEntries = Field(
        default=(),
        description=(
            "Older form: patterns over `name arguments` of a call; each must match at least one call."
        ),
        examples=[[{"pattern": "azd up"}]],
    )
    forbidden: PatternEntries = Field(
        default=(),
        description="Older form: patterns over `name arguments` of a call; none may match any call.",
        examples=[[{"pattern": "rm -rf"}]],
    )

    at_least_one: ClassVar = {
        "required_tools": Given.LISTED,
        "forbidden_tools": Given.LISTED,
        "min_calls": Given.PRESENT,
        "max_calls": Given.PRESENT,
        "expect": Given.LISTED,
        "required": Given.LISTED,
        "forbidden": Given.LISTED,
    }
    conflicts: ClassVar = (
        Conflict(
            ("required", "forbidden"),
            ("required_tools", "forbidden_tools", "min_calls", "expect"),
            "`required` and `forbidden` (patterns) cannot be combined with `required_tools`, "
            "`forbidden_tools`, `min_calls` or `expect`; write two graders",
        ),
    )
    not_greater: ClassVar = {"min_calls": "max_calls"}
    misspellings: ClassVar = misspelt(
        {
            "required_tools": ("tools", "expect_tools", "expected_tools", "must_use"),
            "forbidden_tools": ("reject_tools", "blocked_tools", "disallowed_tools"),
            "expect": ("expected", "expected_calls"),
            "max_calls": "max_tool_calls",
            "min_calls": "min_tool_calls",
        }
    )
    uncertain: ClassVar = frozenset({"tools", "expected"})


@register
class ToolCallsGrader(Grader[ToolCallsConfig]):
    """Checks which tools the agent called, how often, and with which arguments.

    **Scoring:** every listed tool, every bound and every entry of `expect` is one check (in the older form
    every pattern and `max_calls`); score = passed checks / all checks; it passes when all checks pass.

    **Worth knowing:**

    - `required_tools` and `forbidden_tools` are exact names. `tool` inside `expect` is a pattern, found
      anywhere in the name and ignoring case: `edit` also finds `str_replace_edit`.
    - An entry of `expect` holds when one single call has the tool and all the arguments. An absent argument
      never matches.
    - `max_calls: 0` forbids every call. One older manual read it as "no limit"; leave the key out for that.
    - `required` and `forbidden` are the older pattern form, searched in `name arguments` of each call. The
      two forms cannot be mixed, and upstream runs the first form only.
    """

    type = "tool_calls"
    title = "Tool calls"
    other_names = ("tool", "tools", "tool_call")
    judges_tool_choice = True
    config_model = ToolCallsConfig
    example = """\
- type: tool_calls
  name: runs_the_tests
  config:
    required_tools:
      - bash
    max_calls: 20
    expect:
      - tool: ^bash$
        args:
          command:
            regex: '^(npm|pnpm) test'
"""

    def __init__(self, name: str, config: ToolCallsConfig) -> None:
        """Raise ``GraderError`` for an invalid pattern or schema."""
        super().__init__(name, config)
        for index, expected in enumerate(config.expect):
            check_call(f"config.expect[{index}]", expected)

    def grade(self, context: GradingContext) -> Verdict:
        """Check the recorded calls."""
        if context.tool_calls is None:
            return Verdict(0.0, False, "the run recorded no agent session")
        calls = context.tool_calls
        older = bool(self.config.required or self.config.forbidden)
        checks = _older_checks(self.config, calls) if older else _checks(self.config, calls)
        return verdict_of_checks(
            checks,
            all_passed="All tool call checks passed",
            total_calls=len(calls),
            unique_tools=list(dict.fromkeys(call.name for call in calls)),
            passed_checks=sum(check.passed for check in checks),
            total_checks=len(checks),
        )


def _checks(config: ToolCallsConfig, calls: Sequence[ToolCall]) -> list[Check]:
    used = [call.name for call in calls]
    checks = tool_name_checks("required_tools", config.required_tools, used, wanted=True)
    checks += tool_name_checks("forbidden_tools", config.forbidden_tools, used, wanted=False)
    if config.min_calls is not None:
        enough = len(calls) >= config.min_calls
        complaint = (
            "" if enough else f"{counted(len(calls), 'tool call')}, at least {config.min_calls} required"
        )
        checks.append(Check(("min_calls",), enough, complaint))
    if config.max_calls is not None:
        checks.append(at_most("max_calls", len(calls), config.max_calls, "tool call"))
    for index, expected in enumerate(config.expect):
        complaint = _complaint(expected, calls)
        checks.append(Check(("expect", index), not complaint, complaint))
    return checks


def _complaint(expected: ExpectedCall, calls: Sequence[ToolCall]) -> str:
    """Return why no call is as expected, or nothing when one is."""
    try:
        named = [call for call in calls if is_match(expected.tool, call.name, ignore_case=True)]
    except PatternError as error:
        return str(error)
    if any(matches(call, expected.args) for call in named):
        return ""
    if not named:
        return f"no call of a tool that matches {expected.tool}"
    return (
        f"{counted(len(named), 'call')} of {expected.tool}, none with the wanted {', '.join(expected.args)}"
    )


def _older_checks(config: ToolCallsConfig, calls: Sequence[ToolCall]) -> list[Check]:
    lines = call_lines(calls)
    checks = [
        _pattern_check(("required", i), entry, lines, wanted=True) for i, entry in enumerate(config.required)
    ]
    checks += [
        _pattern_check(("forbidden", i), entry, lines, wanted=False)
        for i, entry in enumerate(config.forbidden)
    ]
    if config.max_calls:
        checks.append(at_most("max_calls", len(calls), config.max_calls, "tool call"))
    return checks


def call_lines(calls: Sequence[ToolCall]) -> list[str]:
    """Return the lines in which patterns of the older form are searched."""
    lines = [f"{call.name} {json.dumps(call.arguments, ensure_ascii=False, default=str)}" for call in calls]
    return lines + [_values_line(call) for call in calls]


def _values_line(call: ToolCall) -> str:
    """Return the call in a readable form, so that `bash .*rm -rf "x"` matches without JSON escapes."""
    return " ".join([call.name, *(str(value) for value in call.arguments.values())])


def _pattern_check(path: tuple[str | int, ...], entry: Any, lines: Sequence[str], *, wanted: bool) -> Check:
    pattern = entry.pattern if isinstance(entry, CallPattern) else str(entry)
    try:
        present = any(is_match(pattern, line, ignore_case=True) for line in lines)
    except PatternError as error:
        return Check(path, False, str(error))
    complaint = "no tool call matches" if wanted else "a tool call matches the forbidden pattern"
    return Check(path, present == wanted, "" if present == wanted else f"{complaint} {pattern}")
