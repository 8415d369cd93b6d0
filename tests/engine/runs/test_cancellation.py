import threading

import pytest

from waza_engine.runs.limits.cancellation import all_at_once


def test_what_a_run_has_started_is_ended_at_the_same_time() -> None:
    met = threading.Barrier(3)
    all_at_once([lambda: met.wait(10)] * 3)
    assert not met.broken


def test_one_that_ends_badly_keeps_no_other_from_ending() -> None:
    ended: list[str] = []

    def breaks() -> None:
        raise OSError("the agent is stuck")

    with pytest.raises(OSError, match="stuck"):
        all_at_once([breaks, lambda: ended.append("judge")])
    assert ended == ["judge"]
