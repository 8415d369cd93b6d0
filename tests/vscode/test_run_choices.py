"""What a run is to be like, chosen in a real VS Code; ``choices.mjs`` is the scenario."""

import sys
from pathlib import Path

import pytest

from tests.vscode.scenarios import NEEDS_VSCODE, play

pytestmark = [pytest.mark.check, *NEEDS_VSCODE]


def test_a_run_is_as_it_was_chosen_beside_its_lens(vsix: Path, tmp_path: Path) -> None:
    play("choices.mjs", {"python": Path(sys.executable), "vsix": vsix, "artifacts": tmp_path})
