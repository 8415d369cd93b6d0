"""Slips of the pen in public suites are found, marked at their line, and undone by a fix."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.corpus.quality import LOST, Tally, table, tallies
from tests.corpus.slips import SLIPS
from tests.shared_corpus import needs_corpus

pytestmark = pytest.mark.check

PAGE = Path(__file__).parents[2] / "docs" / "quality.md"
_ROW = re.compile(r"\| (?P<kind>[^|*]+) \| (?P<made>\d+) \| (?P<shares>.+) \|")
_COLUMNS = ("found", "exact", "restored")


def _most_missed() -> dict[tuple[str, str], int]:
    """Return how many slips of each kind the page says are not found, not at their line, not undone."""
    most: dict[tuple[str, str], int] = {}
    for row in map(_ROW.fullmatch, PAGE.read_text("utf-8").splitlines()):
        for column, share in zip(
            _COLUMNS, row["shares"].split(" | ") if row is not None else (), strict=False
        ):
            if row is not None and share != "–":
                made, percent = int(row["made"]), int(share.removesuffix(" %"))
                most[row["kind"], column] = made * (100 - percent) // 100
    return most


@pytest.fixture(scope="module")
def rows() -> dict[str, Tally]:
    # With the seed of the page these are the first slips that it counts.
    return dict(tallies(each=8, seed=1))


@needs_corpus
def test_no_kind_of_slip_falls_below_its_row_of_the_page(rows: dict[str, Tally]) -> None:
    most = _most_missed()
    assert {kind for kind, _ in most} == set(SLIPS)
    for kind, tally in rows.items():
        missed = {
            column: tally.made - getattr(tally, column) for column in _COLUMNS if (kind, column) in most
        }
        worse = {column: count for column, count in missed.items() if count > most[kind, column]}
        assert not worse, f"{kind}: more slips are missed than docs/quality.md says"


@needs_corpus
def test_slips_are_found_at_their_line_and_undone(rows: dict[str, Tally]) -> None:
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
