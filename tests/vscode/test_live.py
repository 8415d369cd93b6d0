"""Verdicts as one types in a real VS Code; ``live.mjs`` is the scenario."""

import sys
from pathlib import Path

import pytest

from tests.vscode.scenarios import NEEDS_VSCODE, play

pytestmark = [pytest.mark.check, *NEEDS_VSCODE]


def test_an_edit_of_a_pattern_flips_its_hint_without_a_run(vsix: Path, tmp_path: Path) -> None:
    play("live.mjs", {"python": Path(sys.executable), "vsix": vsix, "artifacts": tmp_path})
