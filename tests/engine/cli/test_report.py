from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.engine.cli.test_cli import GREETS, engine
from tests.engine.suites import run, task, write_suite


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
        (["eval.yaml", "--format", "junit"], "not a result file"),
        (["eval.yaml", "--format", "pdf"], "pdf"),
        (["eval.yaml"], "--format"),
    ],
)
def test_exit_code_2_when_there_is_nothing_to_report(
    record: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(record.parents[2])
    found = engine("report", *arguments)
    assert found.returncode == 2
    assert said in found.stderr
