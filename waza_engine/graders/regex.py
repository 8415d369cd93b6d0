"""The `regex` grader of older suites: patterns in the agent's answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from pydantic import Field

from waza_engine.graders.base import Grader, GradingContext, Verdict, verdict_of_checks
from waza_engine.graders.config import GraderConfig
from waza_engine.graders.explanation import Explanation, Proposal, RulePath
from waza_engine.graders.matching.explaining import explained_pattern
from waza_engine.graders.matching.proposing import proposed_patterns
from waza_engine.graders.registry import register
from waza_engine.graders.text import pattern_check
from waza_engine.spec.block import Given
from waza_engine.spec.fields import PatternList


class RegexConfig(GraderConfig):
    """Patterns that must and must not match the answer."""

    must_match: PatternList = Field(
        default=(),
        description="Regular expressions (RE2) that must match somewhere in the answer.",
        examples=[["deployed to https?://.+"]],
    )
    must_not_match: PatternList = Field(
        default=(),
        description="Regular expressions (RE2) that must not match anywhere in the answer.",
        examples=[["error|failed|exception"]],
    )

    at_least_one: ClassVar = {"must_match": Given.LISTED, "must_not_match": Given.LISTED}
    misspellings: ClassVar = {
        "pattern": "must_match",
        "patterns": "must_match",
        "should_match": "must_match",
        "match": "must_match",
        "regex_match": "must_match",
        "regex_not_match": "must_not_match",
        "not_match": "must_not_match",
        "should_not_match": "must_not_match",
    }


@register
class RegexGrader(Grader[RegexConfig]):
    """Looks for patterns in the agent's final answer. Write `text` instead: upstream no longer runs `regex`.

    **Scoring:** every pattern is one check; score = passed checks / all checks; it passes when all checks
    pass.

    **Worth knowing:**

    - Upper and lower case differ unless a pattern starts with `(?i)`. The first, Python version of waza
      ignored case in this grader: add `(?i)` to patterns from that time.
    - `must_match` becomes `regex_match` of the `text` grader and `must_not_match` becomes `regex_not_match`.
    """

    type = "regex"
    title = "Pattern (older form)"
    config_model = RegexConfig
    evidence = frozenset({"answer"})
    replaced_by = "text"
    example = """\
- type: regex
  name: format_check
  config:
    must_match:
      - 'deployed to https?://.+'
    must_not_match:
      - permission denied
"""

    def grade(self, context: GradingContext) -> Verdict:
        """Search every pattern in the answer."""
        config = self.config
        checks = [
            pattern_check(("must_match", i), p, context.output) for i, p in enumerate(config.must_match)
        ]
        checks += [
            pattern_check(("must_not_match", i), p, context.output, wanted=False)
            for i, p in enumerate(config.must_not_match)
        ]
        return verdict_of_checks(checks, all_passed="All patterns matched", **config.model_dump(mode="json"))

    def explain(self, context: GradingContext, path: RulePath) -> Explanation | None:
        """Return where a pattern occurs in the answer, or the nearest match."""
        match path:
            case ("must_match" | "must_not_match" as key, int(index)):
                patterns: Sequence[str] = getattr(self.config, key)
                return explained_pattern(patterns[index], context.output)
            case _:
                return None

    def propose(self, contexts: Sequence[GradingContext], path: RulePath) -> Iterator[Proposal]:
        """Propose looser patterns."""
        match path:
            case ("must_match", int(index)):
                answers = [context.output for context in contexts]
                yield from proposed_patterns(path, self.config.must_match[index], answers)
            case _:
                pass
