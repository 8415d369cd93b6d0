from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.command_line import engine
from tests.engine.suites import GREETS, run, task, write_suite


@pytest.fixture
def record(tmp_path: Path) -> Path:
    report, _ = run(write_suite(tmp_path, {"a": task("a")}, graders=GREETS))
    assert report.results_file is not None
    return report.results_file


def test_junit_goes_to_standard_output(record: Path) -> None:
    found = engine("report", record, "--format", "junit")
    assert (found.returncode, found.stderr) == (0, "")
    assert [case.get("name") for case in ElementTree.fromstring(found.stdout).iter("testcase")] == ["a"]


def test_markdown_goes_to_the_file_that_is_asked_for(record: Path, tmp_path: Path) -> None:
    found = engine("report", record, "--format", "markdown", "-o", tmp_path / "out" / "comment.md")
    assert (found.returncode, found.stdout) == (0, "")
    assert "1 of 1 tasks passed" in (tmp_path / "out" / "comment.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["gone.json", "--format", "junit"], "no result file"),
        (["tasks/a.yaml", "--format", "junit"], "has no results yet"),
        ([".waza/results/history.jsonl", "--format", "junit"], "not a result file"),
        (["eval.yaml", "--format", "pdf"], "pdf"),
    ],
)
def test_exit_code_2_when_there_is_nothing_to_report(
    record: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(record.parents[2])
    found = engine("report", *arguments)
    assert found.returncode == 2
    assert said in found.stderr


def test_without_a_format_people_read_it(record: Path) -> None:
    found = engine("report", record)
    assert (found.returncode, found.stderr) == (0, "")
    assert "suite: 1 task, mock" in found.stdout
    assert "✓ a  1.00" in found.stdout
    assert "1 of 1 tasks passed" in found.stdout


def test_a_suite_stands_for_its_newest_results(record: Path) -> None:
    for place in (record.parents[2], record.parents[2] / "eval.yaml"):
        assert "1 of 1 tasks passed" in engine("report", place).stdout


def test_why_a_task_does_not_pass_is_told(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {"a": task("a", prompt="Bye"), "b": "id: ["}, graders=GREETS)
    run(suite)
    found = engine("report", suite)
    assert "✗ greets  0.00" in found.stdout
    assert "b.yaml:" in found.stdout
    assert "0 of 2 tasks passed, 1 in error" in found.stdout


def test_json_is_the_document_in_todays_layout(record: Path) -> None:
    assert json.loads(engine("report", record, "--format", "json").stdout) == json.loads(record.read_text())
