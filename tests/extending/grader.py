"""A grader type: one file, and its name in the registry's list."""

from tests.extending.addition import Addition, Lines

WORD_COUNT = Addition(
    files={
        "waza_engine/graders/word_count.py": '''\
"""The `word_count` grader: how long the answer is."""

from typing import Annotated

from pydantic import Field

from waza_engine.graders.base import Grader, GradingContext, Verdict
from waza_engine.graders.base import GraderConfig
from waza_engine.spec.fields import WholeNumber
from waza_engine.graders.registry import register


class WordCountConfig(GraderConfig):
    """How many words the answer may have."""

    most: Annotated[WholeNumber, Field(ge=1)] = Field(
        description="The most words that the answer may have.", examples=[100]
    )


@register
class WordCountGrader(Grader[WordCountConfig]):
    """Counts the words of the agent's final answer.

    **Scoring:** 1 when there are no more than `most`, else 0.
    """

    type = "word_count"
    title = "Number of words"
    config_model = WordCountConfig
    example = """\\
- type: word_count
  name: is_short
  config:
    most: 100
"""

    def grade(self, context: GradingContext) -> Verdict:
        """Count the words."""
        count = len(context.output.split())
        short = count <= self.config.most
        return Verdict(float(short), short, f"{count} words, {self.config.most} at most")
'''
    },
    lines=(Lines("waza_engine/graders/registry.py", '    "trigger",', '    "word_count",\n'),),
)
