"""Suites in the Test Explorer of a real VS Code; ``testing.mjs`` is the scenario."""

import sys
from pathlib import Path

import pytest

from tests.vscode.scenarios import NEEDS_VSCODE, play

pytestmark = [pytest.mark.check, *NEEDS_VSCODE]


def test_suites_are_run_and_their_failures_seen_in_the_test_explorer(vsix: Path, tmp_path: Path) -> None:
    play("testing.mjs", {"python": Path(sys.executable), "vsix": vsix, "artifacts": tmp_path})
