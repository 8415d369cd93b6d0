"""``--install-completion``: commands, options and values by the Tab key, in every shell there is."""

import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import engine

PLACES = {
    "bash": ".bash_completions/waza-engine.sh",
    "zsh": ".zfunc/_waza-engine",
    "fish": ".config/fish/completions/waza-engine.fish",
    "pwsh": "profile.ps1",
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    return tmp_path


@pytest.mark.skipif(sys.platform == "win32", reason="the PowerShell here is a script for sh")
@pytest.mark.parametrize("shell", PLACES)
def test_every_shell_gets_its_completion(home: Path, shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = home / "bin" / "pwsh"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho '{home}/profile.ps1'\n", "utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    detected = (shell, f"/bin/{shell}")
    monkeypatch.setattr("shellingham.detect_shell", lambda: detected)
    found = engine("--install-completion")
    assert (found.returncode, found.stderr) == (0, "")
    assert str(home / PLACES[shell]) in found.stdout
    written = (home / PLACES[shell]).read_text("utf-8")
    assert "_WAZA_ENGINE_COMPLETE" in written
    assert engine("--show-completion").stdout.strip() in written


def test_a_home_that_takes_no_files_is_told_in_one_sentence(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "file").write_text("", "utf-8")
    monkeypatch.setenv("HOME", str(home / "file"))
    monkeypatch.setattr("shellingham.detect_shell", lambda: ("bash", "/bin/bash"))
    found = engine("--install-completion")
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.endswith("); `waza-engine --show-completion` prints it.\n")
    assert found.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("waza-engine rep", ["report"]),
        ("waza-engine new ", ["suite", "task", "grader", "workflow"]),
        ("waza-engine report --for", ["--format"]),
        ("waza-engine report --format ", ["text", "json", "junit", "markdown", "github", "html", "csv"]),
        ("waza-engine run --executor ", ["mock", "copilot-sdk", "openai", "command", "replay"]),
        ("waza-engine new grader tool", ["tool_calls", "tool_constraint"]),
    ],
)
def test_what_can_be_written_is_offered(
    typed: str, offered: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    variables: dict[str, Any] = {
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(typed.split(" ")) - 1),
        "_WAZA_ENGINE_COMPLETE": "complete_bash",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert engine().stdout.split() == offered
