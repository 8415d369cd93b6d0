"""A folder that is not trusted, in a real VS Code; ``trust.mjs`` is the scenario."""

import sys
from pathlib import Path

import pytest

from tests.vscode.scenarios import NEEDS_VSCODE, play

pytestmark = [pytest.mark.check, *NEEDS_VSCODE]


def test_an_untrusted_folder_runs_nothing_until_it_is_trusted(vsix: Path, tmp_path: Path) -> None:
    play("trust.mjs", {"python": Path(sys.executable), "vsix": vsix, "artifacts": tmp_path})
