"""Bytes that are no UTF-8 are read as upstream reads them."""

from pathlib import Path
from typing import Any

import pytest

from tests.engine.graders.grading import grade

CUT = b"\xe2\x82"
"""The first two bytes of a character of three."""


@pytest.mark.parametrize(
    ("type_", "config"),
    [
        ("file", {"content_patterns": [{"path": "a.txt", "must_match": ["^x\ufffd\ufffdy$"]}]}),
        ("diff", {"expected_files": [{"path": "a.txt", "contains": ["+x\ufffd\ufffdy"]}]}),
    ],
)
def test_every_byte_that_is_no_utf_8_is_one_character(
    tmp_path: Path, type_: str, config: dict[str, Any]
) -> None:
    (tmp_path / "a.txt").write_bytes(b"x" + CUT + b"y")
    verdict = grade(type_, config, workspace=tmp_path)
    assert verdict.passed, verdict.feedback
