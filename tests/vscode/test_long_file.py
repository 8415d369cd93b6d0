"""A file with hundreds of lenses, in a real VS Code; ``long_file.mjs`` is the scenario."""

import sys
from pathlib import Path

import pytest

from tests.vscode.scenarios import NEEDS_VSCODE, play

pytestmark = [pytest.mark.check, *NEEDS_VSCODE]


def test_lenses_follow_the_view_of_a_long_file(vsix: Path, tmp_path: Path) -> None:
    play("long_file.mjs", {"python": Path(sys.executable), "vsix": vsix, "artifacts": tmp_path})
