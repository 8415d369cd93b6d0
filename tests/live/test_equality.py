"""What is told live is what ``waza-engine grade`` says of the same texts."""

from pathlib import Path

import pytest

from tests.live.equality import compare

pytestmark = pytest.mark.check


def test_random_edits_are_judged_as_the_command_judges_them(tmp_path: Path) -> None:
    found = compare(tmp_path / "one", seed=1, edits=25) + compare(tmp_path / "two", seed=2, edits=25)
    assert found.readable > 40
    assert found.verdicts > 250
