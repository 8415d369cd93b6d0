"""What a person sees while writing a suite file, in a real VS Code without any setting."""

import sys
from pathlib import Path

import pytest

from tests.vscode.scenarios import NEEDS_VSCODE, play

pytestmark = [pytest.mark.check, *NEEDS_VSCODE]


def test_a_suite_can_be_typed(vsix: Path, tmp_path: Path) -> None:
    play("typing.mjs", {"python": Path(sys.executable), "vsix": vsix, "artifacts": tmp_path})
