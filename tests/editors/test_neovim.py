"""The server in a real Neovim, through the LSP client that Neovim itself brings."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).with_name("neovim.lua")

EVAL = """\
name: greeter
description: Greets people.
skill: greeter
version: "1.0"
config:
  trials_per_task: 1
  timeout_seconds: 60
  executor: mock
  model: mock
metrics:
  - name: greets
    weight: 1.0
    threshold: 0.5
graders:
  - type: text
    name: says_hello
    config:
      contians: ["hello"]
tasks:
  - tasks/*.yaml
"""
TASK = """\
id: greet
name: Greet
inputs:
  prompt: Say hello to Ada.
"""

pytestmark = pytest.mark.skipif(shutil.which("nvim") is None, reason="nvim is not installed")


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What Neovim saw while it opened the suite, repaired it and ran it."""
    folder = tmp_path_factory.mktemp("greeter")
    (folder / "tasks").mkdir()
    (folder / "eval.yaml").write_text(EVAL, encoding="utf-8")
    (folder / "tasks" / "greet.yaml").write_text(TASK, encoding="utf-8")
    report = folder / "report.json"
    environment = {
        **os.environ,
        "WAZA_SERVER": json.dumps([sys.executable, "-m", "waza_language_server", "--stdio"]),
        "WAZA_REPORT": str(report),
        "WAZA_LENS": "Run suite",
        "XDG_STATE_HOME": str(folder / "state"),
        "XDG_CACHE_HOME": str(folder / "cache"),
    }
    done = subprocess.run(
        ["nvim", "--headless", "--clean", "-n", "-S", str(SCRIPT), "eval.yaml"],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert report.exists(), (
        f"Neovim ended with {done.returncode} and without a report:\n{done.stdout}{done.stderr}"
    )
    seen = json.loads(report.read_text(encoding="utf-8"))
    assert "failure" not in seen, f"{seen['failure']}\n{json.dumps(seen, indent=1)}\n{done.stderr}"
    return seen


def test_the_misspelt_key_is_marked_and_nothing_else(session: dict[str, Any]) -> None:
    line = EVAL.splitlines().index('      contians: ["hello"]')
    marked = [(found["line"], found["column"], found["end_column"]) for found in session["diagnostics"]]
    assert marked == [(line, 6, 14)]


def test_hover_explains_the_grader_type(session: dict[str, Any]) -> None:
    assert "text" in json.dumps(session["hover"])
    assert len(json.dumps(session["hover"])) > 100


def test_the_code_action_repairs_the_key(session: dict[str, Any]) -> None:
    assert "contains" in session["actions"][0]
    assert session["text"] == EVAL.replace("contians", "contains").splitlines()


def test_there_are_lenses_for_the_suite_and_the_grader(session: dict[str, Any]) -> None:
    titles = " ".join(session["lenses"])
    assert "Run suite" in titles
    assert "Run grader" in titles


def test_the_run_reports_progress_and_ends(session: dict[str, Any]) -> None:
    assert session["progress"][0] == "begin"
    assert session["progress"][-1] == "end"


def test_the_score_comes_as_an_inlay_hint(session: dict[str, Any]) -> None:
    line = EVAL.splitlines().index("    name: says_hello")
    at_grader = [hint for hint in session["hints"] if hint["position"]["line"] == line]
    assert at_grader, session["hints"]
    assert re.search(r"[01]\.\d\d", json.dumps(at_grader, ensure_ascii=False))
