"""Several folders, runs and windows at once in a real VS Code; ``several.mjs`` is the scenario."""

import sys
from pathlib import Path

import pytest

from tests.vscode.scenarios import NEEDS_VSCODE, play

pytestmark = [pytest.mark.check, *NEEDS_VSCODE]


def test_folders_and_runs_keep_to_themselves(vsix: Path, tmp_path: Path) -> None:
    play("several.mjs", {"python": Path(sys.executable), "vsix": vsix, "artifacts": tmp_path})
