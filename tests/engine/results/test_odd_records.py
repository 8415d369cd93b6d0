"""Records with figures that no run has: what they are read as, and what people are shown."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.command_line import engine
from tests.engine.suites import GREETS, run, task, write_suite
from waza_engine.moments import local_time
from waza_engine.results.reading.newest_scores import latest_results
from waza_language_server.features.scores.verdict_labels import age

_Edit = Callable[[dict[str, Any]], object]


def recorded(directory: Path, edit: _Edit) -> Path:
    suite = write_suite(directory, {"a": task("a"), "b": task("b", prompt="Bye")}, graders=GREETS)
    file = run(suite)[0].results_file
    assert file is not None
    document = json.loads(file.read_text("utf-8"))
    edit(document)
    file.write_text(json.dumps(document), "utf-8")
    return file


def reported(record: Path, output_format: str) -> str:
    return engine("report", record, "--format", output_format).stdout


@pytest.mark.parametrize(("score", "shown"), [(1e308, "1.00"), (-5, "0.00"), (95, "1.00"), (True, "0.00")])
def test_a_score_counts_from_0_to_1(tmp_path: Path, score: float, shown: str) -> None:
    def edit(document: dict[str, Any]) -> None:
        document["tasks"][0]["runs"][0]["validations"]["greets"]["score"] = score

    record = recorded(tmp_path, edit)
    assert f"✓ a  {shown}" in reported(record, "text")
    mean = float(shown) / 2
    assert f'name="score" value="{mean:.4f}"' in reported(record, "junit")
    assert json.loads(engine("compare", record, record, "--format", "json").stdout)["aggregate_scores"] == [
        mean,
        mean,
    ]


def test_no_time_is_below_0(tmp_path: Path) -> None:
    def edit(document: dict[str, Any]) -> None:
        document["summary"]["duration_ms"] = -9
        document["tasks"][0]["runs"][0]["duration_ms"] = -5000

    record = recorded(tmp_path, edit)
    times = [
        case.get("time", "") for case in ElementTree.fromstring(reported(record, "junit")).iter("testcase")
    ]
    assert float(times[0]) == 0.0
    assert not any(time.startswith("-") for time in times)
    assert "-0.0 s" not in reported(record, "text")


def test_a_record_that_does_not_say_when_it_began_has_no_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = recorded(tmp_path, lambda document: document.pop("timestamp"))
    (suite,) = ElementTree.fromstring(reported(record, "junit")).iter("testsuite")
    assert "timestamp" not in suite.attrib
    assert "0001" not in "".join(reported(record, each) for each in ("text", "markdown", "github"))
    # West of Greenwich the first moment of the calendar cannot be told at all.
    monkeypatch.setenv("TZ", "America/New_York")
    unknown = datetime.min.replace(tzinfo=UTC)
    assert local_time(unknown) == ""
    assert age(unknown, datetime.now(UTC)) == "some time ago"


def test_a_task_that_is_recorded_twice_is_told_as_that(tmp_path: Path) -> None:
    record = recorded(tmp_path, lambda document: document["tasks"].append(document["tasks"][0]))
    said = engine("grade", record).stderr
    assert "the record has more tasks `a` than the suite; its record stays as it is" in said


def test_what_a_trial_that_was_cut_off_holds_counts_for_no_mark(tmp_path: Path) -> None:
    def edit(document: dict[str, Any]) -> None:
        document["metadata"]["engine"]["status"] = "canceled"
        lost = document["tasks"][1]
        lost["status"] = "skipped"
        lost["runs"][0] |= {"status": "skipped", "stopped": True}

    record = recorded(tmp_path, edit)
    assert "1 of 2 tasks passed, 1 lost" in reported(record, "text")
    found = latest_results(tmp_path)
    assert found is not None
    assert [list(found.tasks[name].graders) for name in ("a", "b")] == [["greets"], []]
