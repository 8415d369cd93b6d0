"""The insight into graders of tool calls, skills and usage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from waza_engine.counting import counted
from waza_engine.graders.action_sequence import ActionSequenceGrader
from waza_engine.graders.base import GradingContext
from waza_engine.graders.behavior import BehaviorGrader
from waza_engine.graders.matching.matchers import ArgumentMatcher, matches, text_of
from waza_engine.graders.matching.patterns import is_match
from waza_engine.graders.matching.strings import shortened
from waza_engine.graders.matching.tool_patterns import (
    NO_CALLS,
    PATTERNS,
    ExpectedCall,
    ToolPattern,
    argument_text,
    call_matches,
)
from waza_engine.graders.skill_invocation import SkillInvocationGrader
from waza_engine.graders.tool_calls import CallPattern, ToolCallsGrader, call_lines
from waza_engine.graders.tool_constraint import ToolConstraintGrader, allowed_check
from waza_engine.lab.explaining import (
    explain_limit,
    explain_name,
    explain_pattern,
    explain_sequence,
    tally,
)
from waza_engine.lab.insight import Explanation, Insight, Proposal, RulePath, insight_into
from waza_engine.lab.proposing import (
    LONGEST_TEXT,
    MOST,
    propose_maximum,
    propose_minimum,
    propose_names,
    propose_patterns,
    propose_sequence,
    propose_texts,
)
from waza_engine.spec.pattern_syntax import literal_pattern
from waza_engine.vocabulary import ToolCall, Usage


@insight_into(BehaviorGrader)
class BehaviorInsight(Insight[BehaviorGrader]):
    """The limits and tools of `behavior`."""

    evidence = frozenset({"tool calls", "usage", "duration"})

    def explain(self, context: GradingContext, path: RulePath) -> Explanation | None:
        """Return the observed value for a limit, or the called tools."""
        config, usage = self.config, context.usage
        used = [call.name for call in context.tool_calls or ()]
        match path:
            case ("max_tool_calls",) if config.max_tool_calls:
                return explain_limit(len(used), config.max_tool_calls, "tool calls")
            case ("max_tokens",) if config.max_tokens:
                return explain_tokens(usage, config.max_tokens)
            case ("max_duration_ms",) if config.max_duration_ms:
                return explain_limit(context.duration_ms, config.max_duration_ms, "milliseconds")
            case ("required_tools" | "forbidden_tools" as key, int(index)):
                names: Sequence[str] = getattr(config, key)
                return explain_name(names[index], used, "tool calls")
            case _:
                return None

    def propose(self, contexts: Sequence[GradingContext], path: RulePath) -> Iterator[Proposal]:
        """Propose the observed values as limits, and the names of called tools."""
        config = self.config
        used = [[call.name for call in context.tool_calls or ()] for context in contexts]
        match path:
            case ("max_tool_calls",) if config.max_tool_calls:
                yield from propose_maximum(path, config.max_tool_calls, [len(names) for names in used])
            case ("max_tokens",) if config.max_tokens:
                yield from propose_maximum(path, config.max_tokens, tokens_of(contexts))
            case ("max_duration_ms",) if config.max_duration_ms:
                lasted = [context.duration_ms for context in contexts]
                yield from propose_maximum(path, config.max_duration_ms, lasted)
            case ("required_tools", int(index)):
                yield from propose_names(path, config.required_tools[index], used)
            case _:
                pass


def tokens_of(contexts: Sequence[GradingContext]) -> list[int]:
    """Return how many tokens each trial took whose usage was reported."""
    usages = (context.usage for context in contexts)
    return [usage.input_tokens + usage.output_tokens for usage in usages if usage is not None]


def explain_tokens(usage: Usage | None, limit: int) -> Explanation:
    """Explain the token limit."""
    if usage is None:
        return Explanation("–", ("the executor reported no token usage, so the limit was not checked",))
    return explain_limit(usage.input_tokens + usage.output_tokens, limit, "tokens")


@insight_into(ToolCallsGrader)
class ToolCallsInsight(Insight[ToolCallsGrader]):
    """The tools and expected calls of `tool_calls`."""

    evidence = frozenset({"tool calls"})

    def explain(self, context: GradingContext, path: RulePath) -> Explanation | None:
        """Return which tools were called, how often, and how close a call is to an expected one."""
        config, calls = self.config, context.tool_calls or ()
        used = [call.name for call in calls]
        match path:
            case ("required_tools" | "forbidden_tools" as key, int(index)):
                names: Sequence[str] = getattr(config, key)
                return explain_name(names[index], used, "tool calls")
            case ("max_calls",) if config.max_calls is not None:
                return explain_limit(len(calls), config.max_calls, "tool calls")
            case ("min_calls",) if config.min_calls is not None:
                return explain_limit(len(calls), config.min_calls, "tool calls", least=True)
            case ("expect", int(index), *_):
                expected = config.expect[index]
                return explain_call(expected.tool, expected.args, calls)
            case ("required" | "forbidden" as key, int(index), *_):
                entries: Sequence[Any] = getattr(config, key)
                entry = entries[index]
                pattern = entry.pattern if isinstance(entry, CallPattern) else str(entry)
                lines = "\n".join(call_lines(calls))
                return explain_pattern(pattern, lines, ignore_case=True, wherein="the tool calls")
            case _:
                return None

    def propose(self, contexts: Sequence[GradingContext], path: RulePath) -> Iterator[Proposal]:
        """Propose the observed values as limits, and the names and arguments of recorded calls."""
        config = self.config
        used = [[call.name for call in context.tool_calls or ()] for context in contexts]
        match path:
            case ("required_tools", int(index)):
                yield from propose_names(path, config.required_tools[index], used)
            case ("max_calls",) if config.max_calls is not None:
                yield from propose_maximum(path, config.max_calls, [len(names) for names in used])
            case ("min_calls",) if config.min_calls is not None:
                yield from propose_minimum(path, config.min_calls, [len(names) for names in used])
            case ("expect", int(index), *_):
                yield from propose_calls(("expect", index), config.expect[index], contexts, path)
            case ("required", int(index), *_):
                entry = config.required[index]
                place = (*path[:2], "pattern") if isinstance(entry, CallPattern) else path[:2]
                pattern = entry.pattern if isinstance(entry, CallPattern) else str(entry)
                lines = ["\n".join(call_lines(context.tool_calls or ())) for context in contexts]
                yield from propose_patterns(place, pattern, lines, ignore_case=True)
            case _:
                pass


_MOST_DESCRIBED = 5


@insight_into(ToolConstraintGrader)
class ToolConstraintInsight(Insight[ToolConstraintGrader]):
    """The entries and limits of `tool_constraint`."""

    evidence = frozenset({"tool calls", "usage"})

    def explain(self, context: GradingContext, path: RulePath) -> Explanation | None:
        """Return the calls that match an entry, or the closest one, and the observed value for a limit."""
        config, usage, calls = self.config, context.usage, context.tool_calls or ()
        match path:
            case ("expect_tools" | "reject_tools" as key, int(index), *_):
                entries: Sequence[Any] = getattr(config, key)
                return _explain_entry(entries[index], calls)
            case ("allow_only", *_) if config.allow_only is not None:
                refused = [call for call in calls if not allowed_check(config.allow_only, call).passed]
                names = tally([call.name for call in refused])
                sentence = f"not allowed: {names}" if refused else "all are allowed"
                return Explanation(
                    f"{len(refused)} of {len(calls)}",
                    (f"{counted(len(calls), 'tool call')}; {sentence}",),
                    tuple(_described(call) for call in refused[:_MOST_DESCRIBED]),
                    weight=float(len(refused)),
                )
            case ("max_turns",) if config.max_turns and usage is not None:
                return explain_limit(usage.turns, config.max_turns, "turns")
            case ("max_tokens",) if config.max_tokens:
                return explain_tokens(usage, config.max_tokens)
            case _:
                return None

    def propose(self, contexts: Sequence[GradingContext], path: RulePath) -> Iterator[Proposal]:
        """Propose the observed values as limits, the names of called tools, and looser patterns."""
        config = self.config
        used = [[call.name for call in context.tool_calls or ()] for context in contexts]
        match path:
            case ("expect_tools", int(index), *_):
                entry = config.expect_tools[index]
                if isinstance(entry, ToolPattern):
                    yield from _propose_entry(path[:2], entry, contexts, path)
                else:
                    yield from propose_names(path, entry, used)
            case ("allow_only", *_) if config.allow_only is not None:
                # The list as it is written; the names that are not allowed are added to it.
                written = [_written(entry) for entry in config.allow_only]
                calls = [call for context in contexts for call in context.tool_calls or ()]
                refused = [call.name for call in calls if not allowed_check(config.allow_only, call).passed]
                names = list(dict.fromkeys(refused))
                if names:
                    words = f"Allow {', '.join(f'`{name}`' for name in names[:_MOST_DESCRIBED])} as well"
                    yield Proposal(words, ("allow_only",), [*written, *names])
            case ("max_turns",) if config.max_turns:
                usages = [context.usage for context in contexts]
                turns = [usage.turns for usage in usages if usage is not None]
                yield from propose_maximum(path, config.max_turns, turns)
            case ("max_tokens",) if config.max_tokens:
                yield from propose_maximum(path, config.max_tokens, tokens_of(contexts))
            case _:
                pass


def _propose_entry(
    place: RulePath, entry: ToolPattern, contexts: Sequence[GradingContext], path: RulePath
) -> Iterator[Proposal]:
    calls = [call for context in contexts for call in context.tool_calls or ()]
    named = [call for call in calls if is_match(entry.tool.strip(), call.name, ignore_case=True)]
    for key, argument in PATTERNS.items():
        pattern = getattr(entry, key)
        if pattern and path[2:3] in ((), (key,)):
            values = [argument_text(call, argument) for call in named]
            yield from propose_patterns((*place, key), pattern, values, ignore_case=True)
    if path[2:3] not in tuple((key,) for key in PATTERNS):
        yield from propose_calls(place, entry, contexts, path)


def _written(entry: Any) -> Any:
    return entry.model_dump(mode="json", exclude_unset=True) if isinstance(entry, ToolPattern) else entry


def _explain_entry(entry: Any, calls: Sequence[ToolCall]) -> Explanation:
    fitting = [call for call in calls if call_matches(entry, call)]
    if fitting:
        times = "1 call fits" if len(fitting) == 1 else f"{len(fitting)} calls fit"
        values = tuple(_described(call) for call in fitting[:_MOST_DESCRIBED])
        sentence = f"{times} of {len(calls)}"
        return Explanation(f"{len(fitting)}×", (sentence,), values, weight=float(len(fitting)))
    if isinstance(entry, ToolPattern):
        patterns = {name: getattr(entry, key) for key, name in PATTERNS.items() if getattr(entry, key)}
        wanted = {name: ArgumentMatcher(regex=f"(?i){pattern}") for name, pattern in patterns.items()}
        return explain_call(entry.tool.strip(), {**wanted, **entry.args}, calls)
    names = [call.name for call in calls]
    sentence = f"no {entry} among the calls: {tally(names)}" if names else NO_CALLS
    return Explanation("0×", (sentence,))


def _described(call: ToolCall) -> tuple[str, str]:
    return call.name, shortened(text_of(call.arguments))


@insight_into(ActionSequenceGrader)
class ActionSequenceInsight(Insight[ActionSequenceGrader]):
    """The sequence of `action_sequence`."""

    evidence = frozenset({"tool calls"})

    def explain(self, context: GradingContext, path: RulePath) -> Explanation | None:
        """Compare the expected sequence with the real one."""
        if path[:1] not in (("expected_actions",), ("matching_mode",)) or context.tool_calls is None:
            return None
        actual = [call.name for call in context.tool_calls]
        return explain_sequence(self.config.expected_actions, actual, "actions")

    def propose(self, contexts: Sequence[GradingContext], path: RulePath) -> Iterator[Proposal]:
        """Propose the recorded sequence."""
        if path[:1] == ("expected_actions",):
            actual = [[call.name for call in context.tool_calls or ()] for context in contexts]
            wanted = self.config.expected_actions
            yield from propose_sequence(("expected_actions",), wanted, actual, "actions")


@insight_into(SkillInvocationGrader)
class SkillInvocationInsight(Insight[SkillInvocationGrader]):
    """The skills of `skill_invocation`."""

    evidence = frozenset({"skills"})

    def explain(self, context: GradingContext, path: RulePath) -> Explanation | None:
        """Compare the required skills with the invoked ones, or count uses of a forbidden one."""
        actual = self.grader.invoked(context)
        match path:
            case ("required_skills", *_) | ("mode" | "allow_extra",) if self.config.required_skills:
                return explain_sequence(self.config.required_skills, actual, "skills")
            case ("forbidden_skills", int(index)):
                return explain_name(self.config.forbidden_skills[index], actual, "skill invocations")
            case _:
                return None

    def propose(self, contexts: Sequence[GradingContext], path: RulePath) -> Iterator[Proposal]:
        """Propose the names of invoked skills, and the recorded order of skills."""
        actual = [self.grader.invoked(context) for context in contexts]
        match path:
            case ("required_skills", *rest):
                if rest and isinstance(rest[0], int):
                    yield from propose_names(path, self.config.required_skills[rest[0]], actual)
                wanted = self.config.required_skills
                yield from propose_sequence(("required_skills",), wanted, actual, "skills")
            case _:
                pass


def propose_calls(
    place: RulePath, expected: ExpectedCall, contexts: Sequence[GradingContext], path: RulePath
) -> Iterator[Proposal]:
    """Propose another tool, or other arguments, for an expected call: only at the given path."""
    inside = path[len(place) :]
    calls = [call for context in contexts for call in context.tool_calls or ()]
    named = [call for call in calls if is_match(expected.tool, call.name, ignore_case=True)]
    if not named or inside[:1] == ("tool",):
        plain = expected.tool.strip("^$")
        for one in propose_names((*place, "tool"), plain, [[call.name] for call in calls]):
            exactly = literal_pattern(one.value)
            yield replace(one, value=f"^{exactly}$" if expected.tool[:1] == "^" else exactly)
    for name, matcher in expected.args.items():
        if inside[:1] == ("args",) and inside[1:2] not in ((), (name,)):
            continue
        values = [call.arguments[name] for call in named if name in call.arguments]
        texts = [text_of(value) for value in values]
        at = (*place, "args", name)
        if matcher.regex is not None:
            yield from propose_patterns((*at, "regex"), matcher.regex, texts)
        elif matcher.contains is not None:
            yield from propose_texts((*at, "contains"), matcher.contains, texts, ignore_case=False)
        elif isinstance(matcher.equals, str):
            for value, _ in Counter(texts).most_common(MOST):
                if value != matcher.equals and len(value) <= LONGEST_TEXT:
                    words = f"Expect `{name}` as it was: `{shortened(value, 60)}`"
                    yield Proposal(words, (*at, "equals"), value)


def explain_call(tool: str, args: Mapping[str, ArgumentMatcher], calls: Sequence[ToolCall]) -> Explanation:
    """Explain whether a call of a tool, named by a pattern, has the wanted arguments, or which is nearest."""
    named = [call for call in calls if is_match(tool, call.name, ignore_case=True)]
    if not named:
        used = [call.name for call in calls]
        sentence = f"no call of a tool that matches {tool}; the calls: {tally(used)}"
        return Explanation("0×", (sentence if used else NO_CALLS,), weight=-1.0)

    def fitting(call: ToolCall) -> list[str]:
        return [name for name, matcher in args.items() if matches(call, {name: matcher})]

    nearest = max(named, key=lambda call: len(fitting(call)))
    right, given = fitting(nearest), nearest.arguments
    values = tuple(
        (
            f"{'✓' if name in right else '✗'} {name}",
            (shortened(text_of(given[name])) or "empty") if name in given else "not given",
        )
        for name in args
    )
    times = "1 call" if len(named) == 1 else f"{len(named)} calls"
    if len(right) == len(args):
        return Explanation("as wanted", (f"{times} of {tool}; one is as wanted",), values, weight=1.0)
    sentence = f"{times} of {tool}; the nearest has {len(right)} of {len(args)} arguments as wanted"
    return Explanation(f"{len(right)} of {len(args)}", (sentence,), values, weight=len(right) / len(args))
