"""A folder with a skill alone, in a real VS Code; ``skill.mjs`` is the scenario."""

import sys
from pathlib import Path

import pytest

from tests.vscode.scenarios import NEEDS_VSCODE, play

pytestmark = [pytest.mark.check, *NEEDS_VSCODE]


def test_a_skill_file_makes_its_suite_and_runs_it(vsix: Path, tmp_path: Path) -> None:
    play("skill.mjs", {"python": Path(sys.executable), "vsix": vsix, "artifacts": tmp_path})
