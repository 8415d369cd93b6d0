"""Slips of the pen in public suites are found, marked at their line, and undone by a fix."""

from __future__ import annotations

from tests.corpus.quality import LOST, Tally, table, tallies
from tests.corpus.slips import SLIPS
from tests.shared_corpus import needs_corpus


@needs_corpus
def test_slips_are_found_at_their_line_and_undone() -> None:
    rows = dict(tallies(each=5, seed=3))
    assert [kind for kind, tally in rows.items() if not tally.made] == []
    made, found, exact, restored, reparable = (
        sum(getattr(tally, name) for tally in rows.values()) for name in Tally.__slots__
    )
    assert found >= 0.97 * made
    assert exact >= 0.99 * found
    assert restored >= 0.85 * reparable


def test_there_are_many_kinds_of_slips_and_most_can_be_undone() -> None:
    assert len(SLIPS) >= 35
    assert set(SLIPS) > LOST


def test_the_table_counts_all_kinds_together() -> None:
    rows = [("a", Tally(2, 2, 1, 1, 2)), ("b", Tally(2, 1, 1, 0, 0))]
    assert table(rows).splitlines()[2:] == [
        "| a | 2 | 100 % | 50 % | 50 % |",
        "| b | 2 | 50 % | 50 % | – |",
        "| **all** | 4 | 75 % | 50 % | 50 % |",
    ]
