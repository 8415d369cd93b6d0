"""The `reading_level` grader: short sentences, short words."""

from __future__ import annotations

import re
from typing import ClassVar

from pydantic import Field

from waza_engine.graders.base import (
    Check,
    Grader,
    GraderConfig,
    GraderError,
    GradingContext,
    Verdict,
    verdict_of_checks,
)
from waza_engine.graders.registry import register
from waza_engine.spec.block import Given
from waza_engine.spec.fields import Limit


class ReadingLevelConfig(GraderConfig):
    """How long sentences and words may be on average."""

    # What stands here once is checked by the engine and shown by the editor.
    at_least_one: ClassVar = {"max_sentence_words": Given.POSITIVE, "max_word_letters": Given.POSITIVE}
    misspellings: ClassVar = {"max_words": "max_sentence_words", "max_letters": "max_word_letters"}

    max_sentence_words: Limit = Field(
        default=0, description="The most words a sentence may have on average.", examples=[20]
    )
    max_word_letters: Limit = Field(
        default=0, description="The most letters a word may have on average.", examples=[7]
    )


@register
class ReadingLevelGrader(Grader[ReadingLevelConfig]):
    """Checks that an answer is easy to read: short sentences and short words on average.

    **Scoring:** kept limits / all limits; it passes when all are kept. An answer without words is an error.
    """

    type = "reading_level"
    title = "Reading level"
    config_model = ReadingLevelConfig
    example = """\
- type: reading_level
  name: easy_to_read
  config:
    max_sentence_words: 20
"""

    def grade(self, context: GradingContext) -> Verdict:
        """Measure the answer. Raises ``GraderError`` when there is nothing to measure."""
        words = re.findall(r"\w+", context.output)
        if not words:
            raise GraderError("the answer has no words to measure")
        sentences = max(1, len(re.findall(r"[.!?]+(?:\s|$)", context.output)))
        figures = {
            "max_sentence_words": len(words) / sentences,
            "max_word_letters": sum(map(len, words)) / len(words),
        }
        limits = {key: getattr(self.config, key) for key in figures}
        # A check names the option that asks for it: the editor marks that line.
        checks = [
            Check((key,), figures[key] <= limit, f"`{key}` is {figures[key]:.1f}, at most {limit} allowed")
            for key, limit in limits.items()
            if limit > 0
        ]
        return verdict_of_checks(
            [Check(check.path, check.passed, "" if check.passed else check.message) for check in checks],
            all_passed="The answer is easy to read",
            **figures,
        )
