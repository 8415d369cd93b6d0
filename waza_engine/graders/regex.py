"""The `regex` grader of older suites: patterns in the agent's answer."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from waza_engine.graders.base import GraderConfig
from waza_engine.graders.registry import register
from waza_engine.graders.text import OlderTextGrader
from waza_engine.spec.block import Given, misspelt
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
    misspellings: ClassVar = misspelt(
        {
            "must_match": ("pattern", "patterns", "should_match", "match", "regex_match"),
            "must_not_match": ("regex_not_match", "not_match", "should_not_match"),
        }
    )


@register
class RegexGrader(OlderTextGrader[RegexConfig]):
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
    options: ClassVar = {"regex_match": ("must_match",), "regex_not_match": ("must_not_match",)}
    example = """\
- type: regex
  name: format_check
  config:
    must_match:
      - 'deployed to https?://.+'
    must_not_match:
      - permission denied
"""
