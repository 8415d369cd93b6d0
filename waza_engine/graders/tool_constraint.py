"""The `tool_constraint` grader: which tools may and must be used, by name or by pattern."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

from pydantic import Field

from waza_engine.graders.base import Grader, GraderConfig, GradingContext, Verdict, verdict_of_checks
from waza_engine.graders.behavior import at_most, tokens_check
from waza_engine.graders.matching.patterns import PatternError
from waza_engine.graders.matching.tool_patterns import (
    AllowedCall,
    ToolPattern,
    allows,
    call_matches,
    check_patterns,
    label_of,
)
from waza_engine.graders.registry import register
from waza_engine.spec.block import Given, misspelt
from waza_engine.spec.fields import Alternatives, Limit, ListOfBlocks, PlainText, TextOrBlock
from waza_engine.spec.schema_version import after_0_38
from waza_engine.vocabulary import Check, ToolCall

ToolEntries = ListOfBlocks[Annotated[TextOrBlock[PlainText, ToolPattern], Alternatives("tool.name")]]
AllowedEntries = ListOfBlocks[Annotated[TextOrBlock[PlainText, AllowedCall], Alternatives("tool.name")]]


class ToolConstraintConfig(GraderConfig):
    """Tools that must and must not be used, and limits of the session."""

    expect_tools: ToolEntries = Field(
        default=(),
        description=(
            "Tools that must be used. "
            "A text is an exact tool name; a block has patterns for one call. Upstream takes blocks only."
        ),
        examples=[[{"tool": "^bash$", "command_pattern": "azd\\s+up"}]],
    )
    reject_tools: ToolEntries = Field(
        default=(),
        description=(
            "Tools that must not be used. "
            "A text is an exact tool name; a block has patterns for one call. Upstream takes blocks only."
        ),
        examples=[[{"tool": "^bash$", "command_pattern": "rm\\s+-rf"}]],
    )
    allow_only: AllowedEntries | None = Field(
        default=None,
        description=(
            "The only calls that are allowed; an empty list allows none. A text is a tool's name; in a block "
            "`tool` is a name too, and patterns narrow the calls. Upper and lower case are the same, and so "
            "are `read` and `view`, `write` and `edit`, `fetch` and `web_fetch`."
        ),
        examples=[["view", {"tool": "bash", "command_pattern": "^git status"}]],
        json_schema_extra=after_0_38(),
    )
    max_turns: Limit = Field(
        default=0, description="The most turns of the conversation; `0` means no limit.", examples=[10]
    )
    max_tokens: Limit = Field(
        default=0,
        description="The most tokens, input and output together; `0` means no limit.",
        examples=[50000],
    )

    at_least_one: ClassVar = {
        "expect_tools": Given.LISTED,
        "reject_tools": Given.LISTED,
        "allow_only": Given.PRESENT,
        "max_turns": Given.POSITIVE,
        "max_tokens": Given.POSITIVE,
    }
    misspellings: ClassVar = misspelt(
        {
            "expect_tools": ("expected_tools", "required_tools", "require_tools"),
            "reject_tools": ("rejected_tools", "forbidden_tools", "forbid_tools"),
            "allow_only": ("allowed_tools", "allow_tools"),
        }
    )


@register
class ToolConstraintGrader(Grader[ToolConstraintConfig]):
    """Checks which tools the agent used, down to the commands, paths and arguments of single calls.

    **Scoring:** every entry of `expect_tools` and `reject_tools`, every call under `allow_only`, and every
    limit above zero is one check; score = passed checks / all checks; it passes when all checks pass.

    **Worth knowing:**

    - A text entry (`- bash`) is an exact tool name. In a block, `tool` is a pattern that ignores case and is
      found anywhere: `rm` also finds `format`, so write `^rm$`. In `allow_only` it is a name.
    - All patterns of a block must hold for one and the same call. An absent `command`, `skill` or `path`
      counts as empty text.
    - Matchers in `args` do not ignore case, unlike the patterns; an absent argument never matches.
    - When the executor reports no usage, `max_turns` and `max_tokens` pass with a note.
    - `allow_only` is one check for each call of the agent, and one that passes when there was none.
    - Upstream ignores `max_turns` and `max_tokens`, and refuses text entries.
    """

    type = "tool_constraint"
    title = "Tool constraint"
    config_model = ToolConstraintConfig
    example = """\
- type: tool_constraint
  name: guardrails
  config:
    expect_tools:
      - tool: ^bash$
        command_pattern: 'azd\\s+up'
    reject_tools:
      - tool: ^bash$
        command_pattern: 'rm\\s+-rf'
"""

    def __init__(self, name: str, config: ToolConstraintConfig) -> None:
        """Raise ``GraderError`` for an invalid pattern or schema."""
        super().__init__(name, config)
        for key, entries in (("expect_tools", config.expect_tools), ("reject_tools", config.reject_tools)):
            for index, entry in enumerate(entries):
                if isinstance(entry, ToolPattern):
                    check_patterns(f"config.{key}[{index}]", entry)
        for index, entry in enumerate(config.allow_only or ()):
            if isinstance(entry, ToolPattern):
                # The name is not a pattern here.
                plain = entry.model_copy(update={"tool": "x"})
                check_patterns(f"config.allow_only[{index}]", plain)

    def grade(self, context: GradingContext) -> Verdict:
        """Check the recorded calls and the usage."""
        if context.tool_calls is None:
            return Verdict(0.0, False, "the run recorded no agent session")
        config, calls, usage = self.config, context.tool_calls, context.usage
        checks = [
            _entry_check(("expect_tools", i), entry, calls, wanted=True)
            for i, entry in enumerate(config.expect_tools)
        ]
        checks += [
            _entry_check(("reject_tools", i), entry, calls, wanted=False)
            for i, entry in enumerate(config.reject_tools)
        ]
        if config.allow_only is not None:
            checks += _allow_only_checks(config.allow_only, calls)
        if config.max_turns > 0:
            unknown = "the executor reported no turns, so the limit was not checked"
            checks.append(
                at_most("max_turns", usage.turns, config.max_turns, "turn")
                if usage
                else Check(("max_turns",), True, unknown)
            )
        if config.max_tokens > 0:
            tokens = None if usage is None else usage.input_tokens + usage.output_tokens
            checks.append(tokens_check(tokens, config.max_tokens))
        return verdict_of_checks(
            checks,
            all_passed="All tool constraint checks passed",
            expect_tools=[label_of(entry) for entry in config.expect_tools],
            reject_tools=[label_of(entry) for entry in config.reject_tools],
            tools_used=[call.name for call in calls],
            **_allow_only_details(config.allow_only, calls),
            **(
                {"total_turns": usage.turns, "tokens_total": usage.input_tokens + usage.output_tokens}
                if usage
                else {}
            ),
        )


def _entry_check(
    path: tuple[str | int, ...], entry: Any, calls: Sequence[ToolCall], *, wanted: bool
) -> Check:
    try:
        used = any(call_matches(entry, call) for call in calls)
    except PatternError as error:
        return Check(path, False, str(error))
    complaint = "expected tool not used" if wanted else "rejected tool was used"
    return Check(path, used == wanted, "" if used == wanted else f"{complaint}: {label_of(entry)}")


def _allow_only_checks(allowed: Sequence[Any], calls: Sequence[ToolCall]) -> list[Check]:
    """Return a check for each call, one that passes when there was none."""
    if not calls:
        return [Check(("allow_only",), True)]
    return [allowed_check(allowed, call) for call in calls]


def allowed_check(allowed: Sequence[Any], call: ToolCall) -> Check:
    """Check one call against ``allow_only``."""
    try:
        fits = any(allows(entry, call) for entry in allowed)
    except PatternError as error:
        return Check(("allow_only",), False, str(error))
    return Check(("allow_only",), fits, "" if fits else f"tool that is not allowed: {call.name}")


def _allow_only_details(allowed: Sequence[Any] | None, calls: Sequence[ToolCall]) -> dict[str, Any]:
    if allowed is None:
        return {}
    refused = [call.name for call in calls if not allowed_check(allowed, call).passed]
    labels = [label_of(entry) for entry in allowed]
    return {"allow_only": labels, "allow_only_declared": True, "allow_only_violations": refused}
