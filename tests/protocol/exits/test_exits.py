"""A few exits of each kind; ``python -m tests.protocol.exits`` does it a thousand times."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.protocol.exits.ending import MOMENTS, WAYS, Ending, Plan, end

EXITS = 15

pytestmark = [
    pytest.mark.check,
    pytest.mark.skipif(os.name == "nt", reason="the suite's programs make sessions"),
]


def test_nothing_is_left_whatever_ends_the_server() -> None:
    moments = list(MOMENTS)
    plans = [
        Plan(moments[number % len(moments)], WAYS[number * 3 % len(WAYS)], 0.02 * number, number % 2 == 0)
        for number in range(EXITS)
    ]
    with ThreadPoolExecutor(2) as pool:
        endings: list[Ending] = list(pool.map(end, plans))
    failed = [f"{each.plan}: {each.complaints}" for each in endings if each.complaints]
    assert not failed, "\n".join(failed)
