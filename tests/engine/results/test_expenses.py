"""What trials took is read of records of any size, and of odd ones as far as they say it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.engine.suites import GREETS, recorded, task, write_suite
from waza_engine.results.reading.expenses import RunExpenses, expenses_of


@pytest.fixture
def record(tmp_path: Path) -> Path:
    return recorded(write_suite(tmp_path, {"a": task("a")}, graders=GREETS))


def expenses(record: Path) -> list[RunExpenses]:
    return list(expenses_of(record.parents[2], "eval.yaml"))


def changed(record: Path, **values: Any) -> None:
    document = json.loads(record.read_text("utf-8"))
    document["tasks"][0]["runs"][0] |= values
    record.write_text(json.dumps(document), "utf-8")


def test_a_record_of_more_than_32_mb_says_what_it_took(record: Path) -> None:
    before = expenses(record)
    assert len(before[0].tasks["a"]) == 1
    changed(record, final_output="x" * 33_000_000)
    assert expenses(record) == before


def test_an_odd_value_costs_that_value_alone(record: Path) -> None:
    changed(record, session_digest=3, duration_ms=70)
    (found,) = expenses(record)
    assert [trial.duration_ms for trial in found.tasks["a"]] == [70]
