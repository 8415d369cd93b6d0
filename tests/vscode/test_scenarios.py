"""What a person does and sees in a real VS Code. Each scenario is a script of its own (``NAME.mjs``)."""

import sys
from pathlib import Path

import pytest

from tests.vscode.scenarios import NEEDS_VSCODE, play

SCENARIOS = {
    "agents": "chat agents get a server of tools, and a skill",
    "cluster": "runs on workers are watched, ended and shown as those in threads",
    "evals": "the evals of a skill are repaired and run, and other JSON is left alone",
    "installing": "each kind of machine is told the one thing to do",
    "marks": "what failed is seen and what is stale opens its change",
    "provider": "a run is as it was chosen, and what keeps it from its end has a button",
    "results": "results are opened and compared",
    "rows": "prompts and captures of agent-eval-harness are repaired, run and graded",
    "several": "folders and runs keep to themselves",
    "starting": "an empty file and a skill become suites, and moves of files are undone as a whole",
    "testing": "suites are run and their failures seen in the test explorer",
    "trust": "an untrusted folder runs nothing until it is trusted",
    "typing": "a suite can be typed and is checked",
}

pytestmark = [pytest.mark.check, *NEEDS_VSCODE]


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario(extensions: Path, tmp_path: Path, name: str) -> None:
    play(f"{name}.mjs", {"python": Path(sys.executable), "vsix": extensions, "artifacts": tmp_path})
