"""Numbers in words."""

import pytest

from waza_engine.counting import counted, in_seconds


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(1, "1 second"), (1.0, "1 second"), (0.5, "0.5 seconds"), (0, "0 seconds"), (300.0, "300 seconds")],
)
def test_a_time_is_told_as_people_do(seconds: float, words: str) -> None:
    assert in_seconds(seconds) == words


def test_one_is_not_many() -> None:
    assert [counted(count, "task") for count in (0, 1, 2_000)] == ["0 tasks", "1 task", "2,000 tasks"]
