"""The `behavior` grader: how many tools, tokens and milliseconds the agent needed."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from waza_engine.counting import counted
from waza_engine.graders.base import Grader, GraderConfig, GradingContext, Verdict, verdict_of_checks
from waza_engine.graders.registry import register
from waza_engine.spec.block import Given, misspelt
from waza_engine.spec.fields import Limit, ToolNameList
from waza_engine.vocabulary import Check


class BehaviorConfig(GraderConfig):
    """Limits and tools; every one is a check."""

    max_tool_calls: Limit = Field(
        default=0, description="The most tool calls allowed; `0` means no limit.", examples=[20]
    )
    max_tokens: Limit = Field(
        default=0,
        description="The most tokens allowed, input and output together; `0` means no limit.",
        examples=[50000],
    )
    max_duration_ms: Limit = Field(
        default=0,
        description="The longest run allowed, in milliseconds; `0` means no limit.",
        examples=[60000],
    )
    required_tools: ToolNameList = Field(
        default=(),
        description="Exact names of tools that must be called. Patterns are not supported here.",
        examples=[["bash", "edit"]],
    )
    forbidden_tools: ToolNameList = Field(
        default=(),
        description="Exact names of tools that must not be called. Patterns are not supported here.",
        examples=[["web_fetch"]],
    )

    at_least_one: ClassVar = {
        "max_tool_calls": Given.POSITIVE,
        "max_tokens": Given.POSITIVE,
        "max_duration_ms": Given.POSITIVE,
        "required_tools": Given.LISTED,
        "forbidden_tools": Given.LISTED,
    }
    misspellings: ClassVar = misspelt(
        {
            "max_tool_calls": ("max_calls", "max_tools", "tool_calls"),
            "max_duration_ms": ("max_duration", "max_response_time_ms", "max_time_ms", "duration_ms"),
            "max_tokens": ("tokens", "token_limit"),
            "required_tools": ("required", "expect_tools", "must_use"),
            "forbidden_tools": ("forbidden", "reject_tools", "blocked_tools", "disallowed_tools"),
        }
    )
    uncertain: ClassVar = frozenset({"tool_calls", "required", "forbidden"})


@register
class BehaviorGrader(Grader[BehaviorConfig]):
    """Checks how the agent worked: the number of tool calls, the tokens, the time, and which tools it used.

    **Scoring:** every limit above zero and every listed tool is one check; score = passed checks / all
    checks; it passes when all checks pass.

    **Worth knowing:**

    - Limits are inclusive: 20 calls pass `max_tool_calls: 20`.
    - Tool names are compared exactly, upper and lower case included. `rm -rf` is a command, not a tool: use
      `tool_constraint` with `command_pattern` for it.
    - When the executor reports no token usage, `max_tokens` passes with a note, as upstream does.
    """

    type = "behavior"
    title = "Behavior"
    config_model = BehaviorConfig
    example = """\
- type: behavior
  name: efficient
  config:
    max_tool_calls: 20
    max_duration_ms: 60000
    forbidden_tools:
      - web_fetch
"""

    def grade(self, context: GradingContext) -> Verdict:
        """Compare the session with the limits."""
        if context.tool_calls is None:
            return Verdict(0.0, False, "the run recorded no agent session")
        config, usage = self.config, context.usage
        used = [call.name for call in context.tool_calls]
        tokens = None if usage is None else usage.input_tokens + usage.output_tokens
        checks: list[Check] = []
        if config.max_tool_calls > 0:
            checks.append(at_most("max_tool_calls", len(used), config.max_tool_calls, "tool call"))
        if config.max_tokens > 0:
            checks.append(tokens_check(tokens, config.max_tokens))
        if config.max_duration_ms > 0:
            checks.append(
                at_most("max_duration_ms", context.duration_ms, config.max_duration_ms, "millisecond")
            )
        checks += tool_name_checks("required_tools", config.required_tools, used, wanted=True)
        checks += tool_name_checks("forbidden_tools", config.forbidden_tools, used, wanted=False)
        details = {**config.model_dump(mode="json"), "tool_call_count": len(used), "tools_used": used}
        details["actual_duration"] = context.duration_ms
        if tokens is not None:
            details["tokens_total"] = tokens
        return verdict_of_checks(checks, all_passed="All behavior checks passed", **details)


def at_most(key: str, actual: int, limit: int, unit: str) -> Check:
    """Check an inclusive limit; ``unit`` is the singular of the counted thing."""
    few = actual <= limit
    return Check((key,), few, "" if few else f"{counted(actual, unit)}, at most {limit:,} allowed")


def tokens_check(tokens: int | None, limit: int) -> Check:
    """Check the token limit; it cannot fail without reported usage."""
    if tokens is None:
        return Check(
            ("max_tokens",), True, "the executor reported no token usage, so the limit was not checked"
        )
    return at_most("max_tokens", tokens, limit, "token")


def tool_name_checks(key: str, names: tuple[str, ...], used: list[str], *, wanted: bool) -> list[Check]:
    """Check exact tool names, one check a name."""
    complaint = "required tool not used" if wanted else "forbidden tool was used"
    return [
        Check(
            (key, index), (name in used) == wanted, "" if (name in used) == wanted else f"{complaint}: {name}"
        )
        for index, name in enumerate(names)
    ]
