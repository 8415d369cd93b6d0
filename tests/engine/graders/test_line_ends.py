"""Checks that fail on CRLF line ends alone say so."""

from pathlib import Path
from typing import Any

import pytest

from tests.engine.graders.grading import folder, grade
from waza_engine.runs.grading.graders import expectations
from waza_engine.spec.expected import Expected

CRLF = "first\r\nsecond\r\n"


@pytest.mark.parametrize(
    ("type_name", "config"),
    [
        ("text", {"contains": ["First\nsecond"]}),
        ("text", {"contains_cs": ["first\nsecond"]}),
        ("text", {"regex_match": ["(?m)^first$"]}),
        ("keyword", {"keywords": ["first\nsecond"]}),
        ("regex", {"must_match": ["first\\nsecond"]}),
    ],
)
def test_an_answer_with_crlf_is_named(type_name: str, config: dict[str, Any]) -> None:
    assert "CRLF" in grade(type_name, config, output=CRLF).feedback
    assert grade(type_name, config, output=CRLF.replace("\r", "")).passed
    assert "CRLF" not in grade(type_name, config, output="third\r\n").feedback


def test_what_is_expected_of_an_answer_names_them_too() -> None:
    (verdict,) = expectations(Expected(output_contains=("first\nsecond",)), CRLF)
    assert "CRLF" in verdict.feedback


@pytest.mark.parametrize(
    ("snapshot", "written", "said"),
    [
        ("a\nb\n", "a\r\nb\r\n", "in its line ends only: CRLF instead of LF"),
        ("a\r\nb\r\n", "a\nb\n", "in its line ends only: LF instead of CRLF"),
        ("a\nb\n", "a\r\nc\r\n", "differs from the snapshot b.txt"),
    ],
)
def test_a_snapshot_that_differs_in_them_alone_says_so(
    tmp_path: Path, snapshot: str, written: str, said: str
) -> None:
    folder(tmp_path, {"w/a.txt": written, "b.txt": snapshot})
    config = {"expected_files": [{"path": "a.txt", "snapshot": "b.txt"}]}
    verdict = grade("diff", config, workspace=tmp_path / "w", suite_directory=tmp_path)
    assert verdict.feedback.endswith(said)


def test_a_fragment_of_two_lines_names_them(tmp_path: Path) -> None:
    folder(tmp_path, {"a.txt": CRLF})
    config = {"expected_files": [{"path": "a.txt", "contains": ["first\nsecond"]}]}
    assert "CRLF" in grade("diff", config, workspace=tmp_path, suite_directory=tmp_path).feedback
