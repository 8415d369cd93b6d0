"""Marks of a run in a real VS Code; ``marks.mjs`` is the scenario."""

import sys
from pathlib import Path

import pytest

from tests.vscode.scenarios import NEEDS_VSCODE, play

pytestmark = [pytest.mark.check, *NEEDS_VSCODE]


def test_what_failed_is_seen_and_what_is_stale_opens_its_change(vsix: Path, tmp_path: Path) -> None:
    play("marks.mjs", {"python": Path(sys.executable), "vsix": vsix, "artifacts": tmp_path})
