"""The `tool_constraint` grader: which tools may and must be used, by name or by pattern."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, ClassVar

from pydantic import Discriminator, Field, Tag

from waza_engine.counting import counted
from waza_engine.graders.base import Grader, GradingContext, Verdict, verdict_of_checks
from waza_engine.graders.behavior import at_most, explained_tokens, tokens_check, tokens_of
from waza_engine.graders.config import GraderConfig
from waza_engine.graders.explanation import Explanation, Proposal, RulePath, shortened
from waza_engine.graders.matching.expected_calls import (
    NO_CALLS,
    explained_call,
    proposed_calls,
)
from waza_engine.graders.matching.explaining import explained_limit, tally
from waza_engine.graders.matching.matchers import ArgumentMatcher, text_of
from waza_engine.graders.matching.patterns import PatternError, found
from waza_engine.graders.matching.proposing import proposed_most, proposed_names, proposed_patterns
from waza_engine.graders.matching.tool_patterns import (
    PATTERNS,
    AllowedCall,
    ToolPattern,
    allows,
    argument_text,
    call_matches,
    check_patterns,
    label_of,
)
from waza_engine.graders.registry import register
from waza_engine.spec.block import Given
from waza_engine.spec.fields import (
    Alternatives,
    Limit,
    ListOf,
    PlainText,
    text_or_block,
)
from waza_engine.spec.schema_version import after_0_38
from waza_engine.vocabulary import Check, ToolCall

_MOST_DESCRIBED = 5


ToolEntry = Annotated[
    Annotated[PlainText, Tag("text")] | Annotated[ToolPattern, Tag("block")],
    Discriminator(text_or_block),
    Alternatives("tool.name"),
]
ToolEntries = Annotated[tuple[ToolEntry, ...], ListOf(texts=False)]
AllowedEntry = Annotated[
    Annotated[PlainText, Tag("text")] | Annotated[AllowedCall, Tag("block")],
    Discriminator(text_or_block),
    Alternatives("tool.name"),
]
AllowedEntries = Annotated[tuple[AllowedEntry, ...], ListOf(texts=False)]


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
    misspellings: ClassVar = {
        "expected_tools": "expect_tools",
        "required_tools": "expect_tools",
        "require_tools": "expect_tools",
        "rejected_tools": "reject_tools",
        "forbidden_tools": "reject_tools",
        "forbid_tools": "reject_tools",
        "allowed_tools": "allow_only",
        "allow_tools": "allow_only",
    }


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
    evidence = frozenset({"tool calls", "usage"})
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

    def explain(self, context: GradingContext, path: RulePath) -> Explanation | None:
        """Return the calls that match an entry, or the closest one, and the observed value for a limit."""
        config, usage, calls = self.config, context.usage, context.tool_calls or ()
        match path:
            case ("expect_tools" | "reject_tools" as key, int(index), *_):
                entries: Sequence[Any] = getattr(config, key)
                return _explained_entry(entries[index], calls)
            case ("allow_only", *_) if config.allow_only is not None:
                refused = [call for call in calls if not _allowed_check(config.allow_only, call).passed]
                names = tally([call.name for call in refused])
                told = f"not allowed: {names}" if refused else "all are allowed"
                return Explanation(
                    f"{len(refused)} of {len(calls)}",
                    (f"{counted(len(calls), 'tool call')}; {told}",),
                    tuple(_described(call) for call in refused[:_MOST_DESCRIBED]),
                    weight=float(len(refused)),
                )
            case ("max_turns",) if config.max_turns and usage is not None:
                return explained_limit(usage.turns, config.max_turns, "turns")
            case ("max_tokens",) if config.max_tokens:
                return explained_tokens(usage, config.max_tokens)
            case _:
                return None

    def propose(self, contexts: Sequence[GradingContext], path: RulePath) -> Iterator[Proposal]:
        """Propose limits as they were observed, tools as they are called, and looser patterns."""
        config = self.config
        used = [[call.name for call in context.tool_calls or ()] for context in contexts]
        match path:
            case ("expect_tools", int(index), *_):
                entry = config.expect_tools[index]
                if isinstance(entry, ToolPattern):
                    yield from _proposed_entry(path[:2], entry, contexts, path)
                else:
                    yield from proposed_names(path, entry, used)
            case ("allow_only", *_) if config.allow_only is not None:
                # The list as it is written; the names that are not allowed are added to it.
                written = [_written(entry) for entry in config.allow_only]
                calls = [call for context in contexts for call in context.tool_calls or ()]
                refused = [call.name for call in calls if not _allowed_check(config.allow_only, call).passed]
                names = list(dict.fromkeys(refused))
                if names:
                    words = f"Allow {', '.join(f'`{name}`' for name in names[:_MOST_DESCRIBED])} as well"
                    yield Proposal(words, ("allow_only",), [*written, *names])
            case ("max_turns",) if config.max_turns:
                usages = [context.usage for context in contexts]
                turns = [usage.turns for usage in usages if usage is not None]
                yield from proposed_most(path, config.max_turns, turns)
            case ("max_tokens",) if config.max_tokens:
                yield from proposed_most(path, config.max_tokens, tokens_of(contexts))
            case _:
                pass


def _proposed_entry(
    place: RulePath, entry: ToolPattern, contexts: Sequence[GradingContext], path: RulePath
) -> Iterator[Proposal]:
    calls = [call for context in contexts for call in context.tool_calls or ()]
    named = [call for call in calls if found(entry.tool.strip(), call.name, ignore_case=True)]
    for key, argument in PATTERNS.items():
        pattern = getattr(entry, key)
        if pattern and path[2:3] in ((), (key,)):
            values = [argument_text(call, argument) for call in named]
            yield from proposed_patterns((*place, key), pattern, values, ignore_case=True)
    if path[2:3] not in tuple((key,) for key in PATTERNS):
        yield from proposed_calls(place, entry, contexts, path)


def _written(entry: Any) -> Any:
    return entry.model_dump(mode="json", exclude_unset=True) if isinstance(entry, ToolPattern) else entry


def _explained_entry(entry: Any, calls: Sequence[ToolCall]) -> Explanation:
    fitting = [call for call in calls if call_matches(entry, call)]
    if fitting:
        times = "1 call fits" if len(fitting) == 1 else f"{len(fitting)} calls fit"
        values = tuple(_described(call) for call in fitting[:_MOST_DESCRIBED])
        told = f"{times} of {len(calls)}"
        return Explanation(f"{len(fitting)}×", (told,), values, weight=float(len(fitting)))
    if isinstance(entry, ToolPattern):
        patterns = {name: getattr(entry, key) for key, name in PATTERNS.items() if getattr(entry, key)}
        wanted = {name: ArgumentMatcher(regex=f"(?i){pattern}") for name, pattern in patterns.items()}
        return explained_call(entry.tool.strip(), {**wanted, **entry.args}, calls)
    names = [call.name for call in calls]
    told = f"no {entry} among the calls: {tally(names)}" if names else NO_CALLS
    return Explanation("0×", (told,))


def _described(call: ToolCall) -> tuple[str, str]:
    return call.name, shortened(text_of(call.arguments))


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
    return [_allowed_check(allowed, call) for call in calls]


def _allowed_check(allowed: Sequence[Any], call: ToolCall) -> Check:
    try:
        fits = any(allows(entry, call) for entry in allowed)
    except PatternError as error:
        return Check(("allow_only",), False, str(error))
    return Check(("allow_only",), fits, "" if fits else f"tool that is not allowed: {call.name}")


def _allow_only_details(allowed: Sequence[Any] | None, calls: Sequence[ToolCall]) -> dict[str, Any]:
    if allowed is None:
        return {}
    refused = [call.name for call in calls if not _allowed_check(allowed, call).passed]
    labels = [label_of(entry) for entry in allowed]
    return {"allow_only": labels, "allow_only_declared": True, "allow_only_violations": refused}
