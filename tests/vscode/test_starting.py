"""From an empty eval.yaml to a score, in a real VS Code."""

import sys
from pathlib import Path

import pytest

from tests.vscode.scenarios import NEEDS_VSCODE, play

pytestmark = [pytest.mark.check, *NEEDS_VSCODE]


def test_an_empty_file_becomes_a_suite_with_a_score(vsix: Path, tmp_path: Path) -> None:
    play("starting.mjs", {"python": Path(sys.executable), "vsix": vsix, "artifacts": tmp_path})
