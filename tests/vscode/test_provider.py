"""A provider that wants a key, in a real VS Code; ``provider.mjs`` is the scenario."""

import sys
from pathlib import Path

import pytest

from tests.vscode.scenarios import NEEDS_VSCODE, play

pytestmark = [pytest.mark.check, *NEEDS_VSCODE]


def test_what_keeps_a_run_from_its_end_has_a_button_that_helps(vsix: Path, tmp_path: Path) -> None:
    play("provider.mjs", {"python": Path(sys.executable), "vsix": vsix, "artifacts": tmp_path})
