"""The `text` grader: substrings and patterns in the agent's answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar

from pydantic import Field

from waza_engine.graders.base import ConfigT, Grader, GraderConfig, GradingContext, Verdict, verdict_of_checks
from waza_engine.graders.matching.patterns import PatternError, check_syntax, is_match
from waza_engine.graders.matching.strings import line_end_advice, lowered, quoted
from waza_engine.graders.registry import register
from waza_engine.spec.block import Given, misspelt
from waza_engine.spec.fields import PatternList, TextList
from waza_engine.vocabulary import Check, unjudged_details


class TextConfig(GraderConfig):
    """Strings that must or must not appear in the answer; every item of every list is one check."""

    contains: TextList = Field(
        default=(),
        description="Text that must appear in the answer. Upper and lower case are the same.",
        examples=[["deployed to", "Resource group"]],
    )
    not_contains: TextList = Field(
        default=(),
        description="Text that must not appear in the answer. Upper and lower case are the same.",
        examples=[["permission denied"]],
    )
    contains_cs: TextList = Field(
        default=(),
        description="Text that must appear exactly so: upper and lower case differ.",
        examples=[["README.md"]],
    )
    not_contains_cs: TextList = Field(
        default=(),
        description="Text that must not appear exactly so: upper and lower case differ.",
        examples=[["TODO"]],
    )
    regex_match: PatternList = Field(
        default=(),
        description=(
            "Regular expressions (RE2) that must match somewhere in the answer. "
            "Upper and lower case differ unless the pattern starts with `(?i)`."
        ),
        examples=[["https?://\\S+", "(?i)resource group: .+"]],
    )
    regex_not_match: PatternList = Field(
        default=(),
        description=(
            "Regular expressions (RE2) that must not match anywhere in the answer. "
            "Upper and lower case differ unless the pattern starts with `(?i)`."
        ),
        examples=[["(?i)fatal error|crashed"]],
    )

    at_least_one: ClassVar = dict.fromkeys(
        ("contains", "not_contains", "contains_cs", "not_contains_cs", "regex_match", "regex_not_match"),
        Given.LISTED,
    )
    misspellings: ClassVar = misspelt(
        {
            "regex_match": ("must_match", "match_all", "match", "matches", "pattern", "patterns", "regex"),
            "regex_not_match": ("must_not_match", "must_not_match_any", "forbidden_match", "not_regex_match"),
            "contains": (
                "must_contain",
                "must_include",
                "includes",
                "contains_all",
                "keywords",
                "output_contains",
            ),
            "not_contains": (
                "must_not_contain",
                "must_not_include",
                "not_contains_any",
                "contains_none",
                "excludes",
                "output_excludes",
                "output_not_contains",
            ),
        }
    )


@register
class TextGrader(Grader[TextConfig]):
    """Looks for text and patterns in the agent's final answer.

    **Scoring:** every item of every list is one check; score = passed checks / all checks. The grader passes
    when all checks pass. A text listed twice counts twice.

    **Worth knowing:**

    - `contains` and `not_contains` ignore case, the `_cs` lists do not, patterns do only with `(?i)`.
    - Patterns are searched anywhere in the answer; anchor them with `^` and `$`, and add `(?m)` to mean
      lines.
    - Patterns are RE2, as upstream runs them: linear time, no look-around and no back-references. Patterns
      that only Python understands work here, within two seconds each, but not upstream.
    - An invalid pattern is a failed check, in `regex_not_match` too.
    - In YAML, single quotes keep backslashes as they are, double quotes do not.
    """

    type = "text"
    title = "Text"
    other_names = (
        "contains",
        "string",
        "equals",
        "icontains",
        "includes",
        "match",
        "matches",
        "regexp",
        "re",
    )
    config_model = TextConfig
    example = """\
- type: text
  name: reports_deployment
  config:
    contains:
      - deployed to
    not_contains:
      - permission denied
    regex_match:
      - 'https?://\\S+'
"""

    def grade(self, context: GradingContext) -> Verdict:
        """Run the checks in the order of the options."""
        config, output = self.config, context.output
        answer = lowered(output)
        checks = [_substring("contains", i, t, lowered(t), answer) for i, t in enumerate(config.contains)]
        checks += [
            _forbidden("not_contains", i, t, lowered(t) in answer) for i, t in enumerate(config.not_contains)
        ]
        checks += [_substring("contains_cs", i, t, t, output) for i, t in enumerate(config.contains_cs)]
        checks += [
            _forbidden("not_contains_cs", i, t, t in output) for i, t in enumerate(config.not_contains_cs)
        ]
        checks += [pattern_check(("regex_match", i), p, output) for i, p in enumerate(config.regex_match)]
        checks += [
            pattern_check(("regex_not_match", i), p, output, wanted=False)
            for i, p in enumerate(config.regex_not_match)
        ]
        lists = {"regex_match": config.regex_match, "regex_not_match": config.regex_not_match}
        patterns = {(name, i): p for name, listed in lists.items() for i, p in enumerate(listed)}
        return verdict_of_checks(
            checks,
            all_passed="All text checks passed",
            **config.model_dump(mode="json"),
            **unjudged_if_invalid(checks, patterns),
        )


class OlderTextGrader(Grader[ConfigT]):
    """An older form of `text`: graded as one when a suite is loaded, with the paths of its own options.

    ``options`` names for each list of `text` the lists that it replaces.
    """

    replaced_by = "text"
    options: ClassVar[Mapping[str, tuple[str, ...]]]

    def __init__(self, name: str, config: ConfigT) -> None:
        super().__init__(name, config)
        places = {
            new: [(old, index) for old in olds for index in range(len(getattr(config, old)))]
            for new, olds in self.options.items()
        }
        lists = {
            new: [getattr(config, old)[index] for old, index in found]
            for new, found in places.items()
            if found
        }
        self.successor = TextGrader(name, TextConfig.model_validate(lists))
        self.paths: dict[tuple[str | int, ...], tuple[str | int, ...]] = {
            (new, index): old for new, found in places.items() for index, old in enumerate(found)
        }
        """The path in this configuration for each path in that of the successor."""

    def grade(self, context: GradingContext) -> Verdict:
        """Grade as the successor."""
        verdict = self.successor.grade(context)
        checks = tuple(replace(check, path=self.paths[check.path]) for check in verdict.checks)
        found = {key: verdict.details[key] for key in ("error", "failures") if key in verdict.details}
        details = {**self.config.model_dump(mode="json"), **found}
        return replace(verdict, checks=checks, details=details)


def unjudged_if_invalid(
    checks: Sequence[Check], patterns: Mapping[tuple[str | int, ...], str]
) -> dict[str, object]:
    """Return why no failed check judges the answer, {} if one does: their patterns are invalid."""
    failed = [check for check in checks if not check.passed]
    if not failed or not all(why_invalid(patterns.get(check.path, "")) for check in failed):
        return {}
    return unjudged_details("unusable", failed[0].message)


def why_invalid(pattern: str) -> str:
    """Return why no text can match a pattern, "" for a valid one."""
    try:
        check_syntax(pattern)
    except PatternError as error:
        return str(error)
    return ""


def pattern_check(
    path: tuple[str | int, ...],
    pattern: str,
    text: str,
    *,
    wanted: bool = True,
    of: str = "",
) -> Check:
    """Search a pattern. ``of`` names the searched file in messages; an invalid pattern always fails."""
    where = f"{of}: " if of else ""
    try:
        present = is_match(pattern, text)
    except PatternError as error:
        return Check(path, False, f"{where}{error}")
    if present == wanted:
        return Check(path, True)
    if not wanted:
        return Check(path, False, f"{where}the forbidden pattern matches: `{pattern}`")
    ends = line_end_advice(text, partial(is_match, pattern), ", so allow `\\r?`")
    return Check(path, False, f"{where}no match for the pattern `{pattern}`{ends}")


def _substring(key: str, index: int, text: str, wanted: str, answer: str) -> Check:
    if wanted in answer:
        return Check((key, index), True)
    exactly = " (upper and lower case differ)" if key.endswith("_cs") else ""
    ends = line_end_advice(answer, lambda answer: wanted in answer)
    return Check((key, index), False, f"missing text{exactly}: {quoted(text)}{ends}")


def _forbidden(key: str, index: int, text: str, present: bool) -> Check:
    exactly = " (upper and lower case differ)" if key.endswith("_cs") else ""
    return Check((key, index), not present, f"forbidden text{exactly}: {quoted(text)}" if present else "")
