"""What is wrong with a suite as a person sees it, in a real VS Code."""

import sys
from pathlib import Path

import pytest

from tests.vscode.scenarios import NEEDS_VSCODE, play

pytestmark = [pytest.mark.check, *NEEDS_VSCODE]


def test_problems_are_listed_and_repaired_beside_what_cannot_be_read(vsix: Path, tmp_path: Path) -> None:
    play("problems.mjs", {"python": Path(sys.executable), "vsix": vsix, "artifacts": tmp_path})
