"""A worker is told of a trial once, and no evaluation sees what another one did to it."""

import gc
import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.engine.assertions.expressions import CONTEXT
from waza_engine.assertions.evaluator import AssertionEvaluator, AssertionOutcome, KeptTrials, TrialNames

pytestmark = pytest.mark.check

NAMES = {
    **CONTEXT,
    "outcome": {},
    "transcript": [{"type": "a", "data": {"names": ["x"]}}],
    "tool_calls": [{"name": "bash", "arguments": {"path": "a"}}],
}
CHANGES = (
    "tool_calls.append(1)",
    "tool_calls.pop()",
    "outcome.update({'status': 'done'}) or outcome",
    "transcript[0]['data']['names'].append('y')",
    "(calls := tool_calls) and calls.clear() is None",
    "any(events.pop() for events in [transcript])",
    "(lambda calls: calls[0]['arguments'].clear())(tool_calls)",
    "f'{tool_calls.clear()}'",
    "tool_calls.clear() or 1 +",
)
"""All of them would be seen by the next evaluation, if it were handed the same lists and dicts."""
AS_TOLD = (
    "outcome == {}",
    f"transcript == {NAMES['transcript']!r}",
    f"tool_calls == {NAMES['tool_calls']!r}",
)
posix_only = pytest.mark.skipif(sys.platform in {"win32", "darwin"}, reason="memory cannot be limited here")


class Trial:
    """A trial that counts how often it was told."""

    def __init__(self, names: Mapping[str, Any] = NAMES) -> None:
        self.told = 0
        self.names = TrialNames(self._told)
        self._names = names

    def _told(self) -> Mapping[str, Any]:
        self.told += 1
        return self._names


@pytest.fixture(scope="module")
def evaluator() -> Iterator[AssertionEvaluator]:
    with AssertionEvaluator(workers=1) as shared:
        yield shared


def passed(evaluator: AssertionEvaluator, trial: Trial, *assertions: str) -> list[bool]:
    [outcomes] = evaluator.evaluate_together(assertions, [trial.names])
    return [outcome.passed for outcome in outcomes]


@pytest.mark.parametrize("change", CHANGES)
def test_what_one_evaluation_changes_the_next_does_not_see(
    evaluator: AssertionEvaluator, change: str
) -> None:
    trial = Trial()
    assert passed(evaluator, trial, *AS_TOLD) == [True] * 3
    assert passed(evaluator, trial, change, *AS_TOLD) == passed(evaluator, Trial(), change, *AS_TOLD)
    assert passed(evaluator, trial, *AS_TOLD) == [True] * 3
    assert trial.told == 1


def test_the_changes_are_seen_within_an_evaluation(evaluator: AssertionEvaluator) -> None:
    seen = [passed(evaluator, Trial(), change, *AS_TOLD)[1:] for change in CHANGES[:-1]]
    assert [all(each) for each in seen] == [False] * len(seen)


def test_a_trial_nested_more_deeply_than_python_follows_is_told_as_well(
    evaluator: AssertionEvaluator,
) -> None:
    nested: list[Any] = []
    for _ in range(800):
        nested = [nested]
    trial = Trial({"transcript": nested})
    assert passed(evaluator, trial, "transcript.append(1) is None") == [True]
    assert passed(evaluator, trial, "len(transcript) == 1") == [True]


def test_trials_that_were_kept_and_new_ones_are_answered_in_their_order(
    evaluator: AssertionEvaluator,
) -> None:
    trials = [Trial({"duration_ms": number}) for number in range(200)]
    evaluator.evaluate_together(["duration_ms"], [trial.names for trial in trials[::3]])
    found = evaluator.evaluate_together(["duration_ms % 2 == 0"], [trial.names for trial in reversed(trials)])
    assert [outcome.passed for [outcome] in found] == [number % 2 == 0 for number in reversed(range(200))]
    assert {trial.told for trial in trials} == {1}


def test_another_worker_is_told_again() -> None:
    trial = Trial()
    with AssertionEvaluator(deadline_seconds=1) as evaluator:
        assert passed(evaluator, trial, "re.search('(a+)+$', 'a' * 60 + 'b')", "output") == [False, True]
        assert passed(evaluator, trial, "tool_calls", "output") == [True, True]
        told = trial.told
        assert told > 1
        assert passed(evaluator, trial, "output", "tool_calls") == [True, True]
        assert trial.told == told


def test_what_does_not_fit_is_told_each_time_and_what_is_gone_makes_room() -> None:
    kept = KeptTrials(most_bytes=1_000)
    small, large, other = (Trial({"output": "x" * size}) for size in (100, 5_000, 600))

    def request(*trials: Trial) -> dict[str, Any]:
        [found] = kept.requests(["True"], [trial.names for trial in trials])
        return json.loads(found.line)

    assert list(request(small, large)["keep"]) == [str(small.names.number)]
    again = request(small, large)
    assert again["contexts"] == [small.names.number, {"output": "x" * 5_000}]
    assert again["keep"] == {}
    assert request(other)["contexts"] == [{"output": "x" * 600}]
    number = small.names.number
    del small
    gc.collect()
    assert request(other)["forget"] == [number]
    assert request(other)["contexts"] == [other.names.number]


@posix_only
def test_what_a_worker_keeps_takes_no_memory_from_assertions() -> None:
    trials = [Trial({"output": "x" * 9_000_000}) for _ in range(16)]
    large, larger = "len('x' * 150_000_000)", "len('x' * 900_000_000)"
    too_much = AssertionOutcome(False, "it needs more than the allowed memory of 500 MB")
    alone = [AssertionOutcome(True), too_much]
    with AssertionEvaluator(memory_bytes=500_000_000) as evaluator:
        names = [trial.names for trial in trials]
        evaluator.evaluate_together(["output"], names)
        assert evaluator.evaluate_together([large, larger], names[:1]) == [alone]
        evaluator.evaluate_together(["output"], names)
        assert evaluator.evaluate([large, larger], {"output": ""}) == alone
        evaluator.evaluate_together(["output"], names)
        assert evaluator.explain([larger], {"output": ""}).outcome == too_much
