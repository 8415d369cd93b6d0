"""The server in a real Neovim, through the LSP client that Neovim itself brings."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.editors.greeter import EVAL, REPAIRED, SERVER, reported
from tests.editors.installed import installed_neovim

pytestmark = pytest.mark.check

SCRIPT = Path(__file__).with_name("neovim.lua")


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What Neovim saw while it opened the suite, repaired it, ran it, edited it and graded it again."""
    command = [installed_neovim(), "--headless", "--clean", "-n", "-S", str(SCRIPT), "eval.yaml"]
    return reported(tmp_path_factory.mktemp("greeter"), command, {"WAZA_SERVER": json.dumps(SERVER)})


def test_the_misspelt_key_is_marked_and_nothing_else(session: dict[str, Any]) -> None:
    line = EVAL.splitlines().index('      contians: ["no such words"]')
    marked = [(found["line"], found["column"], found["end_column"]) for found in session["diagnostics"]]
    assert marked == [(line, 6, 14)]


def test_hover_explains_the_grader_type(session: dict[str, Any]) -> None:
    assert "text" in json.dumps(session["hover"])
    assert len(json.dumps(session["hover"])) > 100


def test_the_code_action_repairs_the_key(session: dict[str, Any]) -> None:
    assert "contains" in session["actions"][0]
    assert session["text"] == REPAIRED.splitlines()


def test_there_are_lenses_for_the_suite_and_the_grader(session: dict[str, Any]) -> None:
    titles = " ".join(session["lenses"])
    assert "Run suite" in titles
    assert "Run grader" in titles


def test_the_run_reports_progress_and_ends(session: dict[str, Any]) -> None:
    assert session["progress"][0] == "begin"
    assert session["progress"][-1] == "end"


def test_the_end_of_the_run_is_told(session: dict[str, Any]) -> None:
    assert session["messages"][-1].endswith(": 0 of 1 task passed, 1 failed")


def test_the_score_comes_as_an_inlay_hint(session: dict[str, Any]) -> None:
    assert re.search(r"✗ 0\.00", _hint_at("    name: says_hello", session["hints"]))


def test_an_edited_grader_is_graded_again_without_a_run(session: dict[str, Any]) -> None:
    assert re.search(r"✓ 1\.00", _hint_at("    name: says_hello", session["regraded"]))


def _hint_at(line: str, hints: list[dict[str, Any]]) -> str:
    at = EVAL[: EVAL.index(line)].count("\n")
    return json.dumps([hint for hint in hints if hint["position"]["line"] == at], ensure_ascii=False)
