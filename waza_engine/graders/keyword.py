"""The `keyword` grader of older suites: words in the agent's answer."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from waza_engine.graders.base import GraderConfig
from waza_engine.graders.registry import register
from waza_engine.graders.text import OlderTextGrader
from waza_engine.spec.block import Given, misspelt
from waza_engine.spec.fields import TextList


class KeywordConfig(GraderConfig):
    """Words that must and must not appear; upper and lower case are the same."""

    must_contain: TextList = Field(
        default=(), description="Text that must appear in the answer.", examples=[["managed identity"]]
    )
    keywords: TextList = Field(
        default=(),
        description="The same as `must_contain`; items of both lists are checked.",
        examples=[["deploy", "resource group"]],
    )
    must_not_contain: TextList = Field(
        default=(), description="Text that must not appear in the answer.", examples=[["password"]]
    )

    at_least_one: ClassVar = dict.fromkeys(("must_contain", "keywords", "must_not_contain"), Given.LISTED)
    misspellings: ClassVar = misspelt(
        {"must_contain": "contains", "must_not_contain": "not_contains", "keywords": "words"}
    )


@register
class KeywordGrader(OlderTextGrader[KeywordConfig]):
    """Looks for words in the agent's final answer. Write `text` instead: upstream no longer runs `keyword`.

    **Scoring:** every word is one check; score = passed checks / all checks; it passes when all checks pass.

    **Worth knowing:** case never matters, and a word is found inside longer words too (`cat` in
    `concatenate`). `must_contain` and `keywords` become `contains` of the `text` grader, `must_not_contain`
    becomes `not_contains`.
    """

    type = "keyword"
    title = "Keywords (older form)"
    config_model = KeywordConfig
    options: ClassVar = {"contains": ("must_contain", "keywords"), "not_contains": ("must_not_contain",)}
    example = """\
- type: keyword
  name: mentions_identity
  config:
    must_contain:
      - managed identity
"""
