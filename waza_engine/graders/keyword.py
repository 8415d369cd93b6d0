"""The `keyword` grader of older suites: words in the agent's answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import ClassVar

from pydantic import Field

from waza_engine.graders.base import Grader, GradingContext, Verdict, verdict_of_checks
from waza_engine.graders.config import GraderConfig
from waza_engine.graders.explanation import Explanation, Proposal, RulePath
from waza_engine.graders.matching.explaining import explained_text
from waza_engine.graders.matching.letter_case import lowered
from waza_engine.graders.matching.line_ends import line_end_words
from waza_engine.graders.matching.proposing import proposed_texts
from waza_engine.graders.matching.quoting import quoted
from waza_engine.graders.registry import register
from waza_engine.spec.block import Given
from waza_engine.spec.fields import TextList
from waza_engine.vocabulary import Check


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

    at_least_one: ClassVar = {
        "must_contain": Given.LISTED,
        "keywords": Given.LISTED,
        "must_not_contain": Given.LISTED,
    }
    misspellings: ClassVar = {
        "contains": "must_contain",
        "not_contains": "must_not_contain",
        "words": "keywords",
    }


@register
class KeywordGrader(Grader[KeywordConfig]):
    """Looks for words in the agent's final answer. Write `text` instead: upstream no longer runs `keyword`.

    **Scoring:** every word is one check; score = passed checks / all checks; it passes when all checks pass.

    **Worth knowing:** case never matters, and a word is found inside longer words too (`cat` in
    `concatenate`). `must_contain` and `keywords` become `contains` of the `text` grader, `must_not_contain`
    becomes `not_contains`.
    """

    type = "keyword"
    title = "Keywords (older form)"
    config_model = KeywordConfig
    evidence = frozenset({"answer"})
    replaced_by = "text"
    example = """\
- type: keyword
  name: mentions_identity
  config:
    must_contain:
      - managed identity
"""

    def grade(self, context: GradingContext) -> Verdict:
        """Search every word in the answer."""
        config, output = self.config, lowered(context.output)
        checks: list[Check] = []
        for key, words in (("must_contain", config.must_contain), ("keywords", config.keywords)):
            for index, word in enumerate(words):
                present, holds = lowered(word) in output, partial(_has, lowered(word))
                complaint = f"missing text: {quoted(word)}{line_end_words(output, holds)}"
                checks.append(Check((key, index), present, "" if present else complaint))
        for index, word in enumerate(config.must_not_contain):
            present = lowered(word) in output
            checks.append(
                Check(
                    ("must_not_contain", index),
                    not present,
                    f"forbidden text: {quoted(word)}" if present else "",
                )
            )
        return verdict_of_checks(
            checks, all_passed="All keyword checks passed", **config.model_dump(mode="json")
        )

    def explain(self, context: GradingContext, path: RulePath) -> Explanation | None:
        """Return where a word occurs in the answer, or the nearest match."""
        match path:
            case ("must_contain" | "keywords" | "must_not_contain" as key, int(index)):
                words: Sequence[str] = getattr(self.config, key)
                return explained_text(words[index], context.output)
            case _:
                return None

    def propose(self, contexts: Sequence[GradingContext], path: RulePath) -> Iterator[Proposal]:
        """Propose words as they occur in the answers."""
        match path:
            case ("must_contain" | "keywords" as key, int(index)):
                words: Sequence[str] = getattr(self.config, key)
                yield from proposed_texts(path, words[index], [context.output for context in contexts])
            case _:
                pass


def _has(word: str, text: str) -> bool:
    return word in text
