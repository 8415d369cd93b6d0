"""Tool calls expected by patterns: their errors, the nearest calls, and proposals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from pydantic import Field

from waza_engine.graders.base import GraderError, GradingContext
from waza_engine.graders.config import GraderConfig
from waza_engine.graders.explanation import Explanation, Proposal, RulePath, shortened
from waza_engine.graders.matching.explaining import tally
from waza_engine.graders.matching.matchers import ArgumentMatcher, matches, text_of
from waza_engine.graders.matching.patterns import PatternError, check_syntax, found
from waza_engine.graders.matching.proposing import (
    LONGEST_TEXT,
    MOST,
    proposed_names,
    proposed_patterns,
    proposed_texts,
)
from waza_engine.spec.fields import PlainText
from waza_engine.spec.pattern_syntax import literal_pattern
from waza_engine.vocabulary import ToolCall

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


def proposed_calls(
    place: RulePath, expected: ExpectedCall, contexts: Sequence[GradingContext], path: RulePath
) -> Iterator[Proposal]:
    """Propose another tool, or other arguments, for an expected call: only at the given path."""
    inside = path[len(place) :]
    calls = [call for context in contexts for call in context.tool_calls or ()]
    named = [call for call in calls if found(expected.tool, call.name, ignore_case=True)]
    if not named or inside[:1] == ("tool",):
        plain = expected.tool.strip("^$")
        for one in proposed_names((*place, "tool"), plain, [[call.name] for call in calls]):
            exactly = literal_pattern(one.value)
            yield replace(one, value=f"^{exactly}$" if expected.tool[:1] == "^" else exactly)
    for name, matcher in expected.args.items():
        if inside[:1] == ("args",) and inside[1:2] not in ((), (name,)):
            continue
        values = [call.arguments[name] for call in named if name in call.arguments]
        texts = [text_of(value) for value in values]
        at = (*place, "args", name)
        if matcher.regex is not None:
            yield from proposed_patterns((*at, "regex"), matcher.regex, texts)
        elif matcher.contains is not None:
            yield from proposed_texts((*at, "contains"), matcher.contains, texts, ignore_case=False)
        elif isinstance(matcher.equals, str):
            for value, _ in Counter(texts).most_common(MOST):
                if value != matcher.equals and len(value) <= LONGEST_TEXT:
                    words = f"Expect `{name}` as it was: `{shortened(value, 60)}`"
                    yield Proposal(words, (*at, "equals"), value)


def explained_call(tool: str, args: Mapping[str, ArgumentMatcher], calls: Sequence[ToolCall]) -> Explanation:
    """Explain whether a call of a tool, named by a pattern, has the wanted arguments, or which is nearest."""
    named = [call for call in calls if found(tool, call.name, ignore_case=True)]
    if not named:
        used = [call.name for call in calls]
        told = f"no call of a tool that matches {tool}; the calls: {tally(used)}"
        return Explanation("0×", (told if used else NO_CALLS,), weight=-1.0)

    def fitting(call: ToolCall) -> list[str]:
        return [name for name, matcher in args.items() if matches(call, {name: matcher})]

    nearest = max(named, key=lambda call: len(fitting(call)))
    right, given = fitting(nearest), nearest.arguments
    values = tuple(
        (f"{'✓' if name in right else '✗'} {name}", _shown(given[name]) if name in given else "not given")
        for name in args
    )
    times = "1 call" if len(named) == 1 else f"{len(named)} calls"
    if len(right) == len(args):
        return Explanation("as wanted", (f"{times} of {tool}; one is as wanted",), values, weight=1.0)
    told = f"{times} of {tool}; the nearest has {len(right)} of {len(args)} arguments as wanted"
    return Explanation(f"{len(right)} of {len(args)}", (told,), values, weight=len(right) / len(args))


def _shown(value: object) -> str:
    return shortened(text_of(value)) or "empty"


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
