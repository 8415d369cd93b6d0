"""The lists of ``expected`` as graders: their mutation score is measured like that of all others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from waza_engine.graders.base import Grader, GradingContext, Verdict
from waza_engine.graders.config import GraderConfig
from waza_engine.graders.matching.samples import MOST_SAMPLES, Samples
from waza_engine.runs.grading.graders import BuiltGrader, grade_expected
from waza_engine.runs.trials.trial import TrialTask
from waza_engine.spec.expected import Expected
from waza_engine.spec.grader_entry import GraderEntry

TYPE = "expected"


class _List(GraderConfig):
    """The list itself is in ``expected``."""


class _Expectation(Grader[_List]):
    """One list of ``expected``."""

    type = TYPE
    title = "Expectation"
    config_model: ClassVar = _List
    example = ""
    evidence = frozenset({"answer"})

    def __init__(self, name: str, expected: Expected) -> None:
        super().__init__(name, _List())
        self._expected = expected

    def samples(self, context: GradingContext) -> Samples:
        """Return the strings of the list, which are not patterns."""
        del context
        texts = tuple(_texts(self.name, self._expected))
        return Samples(texts[:MOST_SAMPLES], len(texts) <= MOST_SAMPLES)

    def grade(self, context: GradingContext) -> Verdict:
        """Compare the answer with the strings of the list."""
        (found,) = grade_expected(self._expected, context, (self.name,))
        return Verdict(found.score, found.passed, found.feedback, checks=found.checks)


def built_expectations(task: TrialTask) -> Iterator[BuiltGrader]:
    """Yield the lists of ``expected`` that a task has, each as a grader with the name of its verdict."""
    expected = task.spec.expected
    for name in task.expected_names if task.grade_expected else ():
        entry = GraderEntry(name=name, type=TYPE, config={_key(name): list(_texts(name, expected))})
        yield BuiltGrader(name, entry, _Expectation(name, expected))


def _texts(name: str, expected: Expected) -> Sequence[str]:
    return getattr(expected, _key(name))


def _key(name: str) -> str:
    return name.removeprefix("_")
