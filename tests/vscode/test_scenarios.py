"""Run the scenarios in a real VS Code; each is a script ``NAME.mjs``."""

import sys
from pathlib import Path

import pytest

from tests.vscode.scenarios import NEEDS_VSCODE, play

SCENARIOS = {
    "agents": "chat agents get an MCP server and a skill",
    "cluster": "runs on workers are shown and cancelled like local ones",
    "evals": "the evals of a skill are repaired and run, and other JSON is ignored",
    "installing": "each kind of machine gets the right installation advice",
    "marks": "failures have marks, and stale ones open a diff",
    "provider": "a run has the chosen options, and its errors have remedies",
    "results": "results are opened, compared and reviewed",
    "rows": "prompts and captures of agent-eval-harness are repaired, run and graded",
    "several": "several folders, runs and windows do not mix",
    "starting": "an empty file and a skill become suites, and file operations are undone with their edits",
    "testing": "suites run in the Test Explorer, which shows their failures",
    "trust": "an untrusted folder runs nothing",
    "typing": "a suite is checked while it is typed",
}

pytestmark = [pytest.mark.check, *NEEDS_VSCODE]


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario(extensions: Path, tmp_path: Path, name: str) -> None:
    play(f"{name}.mjs", {"python": Path(sys.executable), "vsix": extensions, "artifacts": tmp_path})
