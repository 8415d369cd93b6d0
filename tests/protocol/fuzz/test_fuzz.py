"""A short fuzz with fixed seeds: nothing may be found. ``python -m tests.protocol.fuzz`` is the long one."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.protocol.fuzz.fuzzing import Outcome, run_session
from tests.protocol.fuzz.session import Limits

pytestmark = pytest.mark.check

MESSAGES = 1_600
SEEDS = (1, 2, 3, 4)
PATIENT = Limits(hang_seconds=60, leave_seconds=30)


def test_a_sample_of_messages_finds_nothing() -> None:
    def run(seed: int) -> Outcome:
        return run_session(seed, MESSAGES // len(SEEDS), PATIENT)

    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(run, SEEDS))
    found = [each.told() for each in outcomes if each.finding is not None]
    assert not found, "\n".join(found)
    assert sum(outcome.messages for outcome in outcomes) >= MESSAGES


def test_a_seed_makes_the_same_session_again() -> None:
    first, second = (run_session(7, 150, PATIENT) for _ in range(2))
    assert first.steps == second.steps
