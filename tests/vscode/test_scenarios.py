"""What a person does and sees in a real VS Code. Each scenario is a script of its own (``NAME.mjs``)."""

import sys
from pathlib import Path

import pytest

from tests.vscode.scenarios import NEEDS_VSCODE, play

SCENARIOS = {
    "installing": "each kind of machine is told the one thing to do",
    "live": "an edit of a pattern flips its hint without a run",
    "long_file": "lenses follow the view of a long file",
    "marks": "what failed is seen and what is stale opens its change",
    "moves": "moves and new suites are undone as a whole",
    "problems": "problems are listed and repaired beside what cannot be read",
    "provider": "what keeps a run from its end has a button that helps",
    "results": "results are opened and compared",
    "choices": "a run is as it was chosen beside its lens",
    "several": "folders and runs keep to themselves",
    "skill": "a skill file makes its suite and runs it",
    "starting": "an empty file becomes a suite with a score",
    "testing": "suites are run and their failures seen in the test explorer",
    "trust": "an untrusted folder runs nothing until it is trusted",
    "typing": "a suite can be typed",
}

pytestmark = [pytest.mark.check, *NEEDS_VSCODE]


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario(vsix: Path, tmp_path: Path, name: str) -> None:
    play(f"{name}.mjs", {"python": Path(sys.executable), "vsix": vsix, "artifacts": tmp_path})
