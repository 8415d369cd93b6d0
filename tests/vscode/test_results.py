"""What is done with results in a real VS Code; ``results.mjs`` is the scenario."""

import sys
from pathlib import Path

import pytest

from tests.vscode.scenarios import NEEDS_VSCODE, play

pytestmark = [pytest.mark.check, *NEEDS_VSCODE]


def test_results_are_opened_and_compared(vsix: Path, tmp_path: Path) -> None:
    play("results.mjs", {"python": Path(sys.executable), "vsix": vsix, "artifacts": tmp_path})
