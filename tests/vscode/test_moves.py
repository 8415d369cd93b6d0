"""What the Explorer of a real VS Code changes in suites, and undoes; ``moves.mjs`` is the scenario."""

import sys
from pathlib import Path

import pytest

from tests.vscode.scenarios import NEEDS_VSCODE, play

pytestmark = [pytest.mark.check, *NEEDS_VSCODE]


def test_moves_and_new_suites_are_undone_as_a_whole(vsix: Path, tmp_path: Path) -> None:
    play("moves.mjs", {"python": Path(sys.executable), "vsix": vsix, "artifacts": tmp_path})
