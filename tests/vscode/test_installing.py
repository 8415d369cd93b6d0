"""What a person sees of an installation that cannot be, and of one that can, in a real VS Code."""

import sys
from pathlib import Path

import pytest

from tests.vscode.scenarios import NEEDS_VSCODE, play

pytestmark = [pytest.mark.check, *NEEDS_VSCODE]


def test_each_kind_of_machine_is_told_the_one_thing_to_do(vsix: Path, tmp_path: Path) -> None:
    play("installing.mjs", {"python": Path(sys.executable), "vsix": vsix, "artifacts": tmp_path})
