"""The server in a real Emacs, through eglot, set up as `docs/editors.md` says."""

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.editors.greeter import EVAL, REPAIRED, reported
from tests.editors.installed import installed_emacs

pytestmark = pytest.mark.check

SCRIPT = Path(__file__).with_name("emacs.el")
PAGE = Path(__file__).parents[2] / "docs" / "editors.md"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What Emacs saw while it opened the suite, repaired it, ran it, edited it and graded it again."""
    emacs = installed_emacs()
    folder = tmp_path_factory.mktemp("greeter")
    (setup,) = re.findall(r"^```elisp\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    (folder / "init.el").write_text(setup, encoding="utf-8")
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = {"PATH": programs, "WAZA_CONFIGURATION": str(folder / "init.el")}
    return reported(folder, [emacs, "--batch", "-q", "-l", str(SCRIPT)], environment)


def test_the_misspelt_key_is_marked_and_nothing_else(session: dict[str, Any]) -> None:
    line = EVAL.splitlines().index('      contians: ["no such words"]')
    ((marked, column, end_column, text),) = session["diagnostics"]
    assert (marked - 1, column, end_column) == (line, 6, 14)
    assert "did you mean `contains`?" in text


def test_the_first_action_repairs_the_key(session: dict[str, Any]) -> None:
    assert session["fixes"][0] == "Change to `contains`"
    assert session["text"] == REPAIRED


def test_what_is_around_the_cursor_is_run_by_an_action(session: dict[str, Any]) -> None:
    assert session["fixes"][1:] == ["▶ Run grader", "▶ Run suite"]
    assert [title for title in session["runs"] if not title.startswith("Convert")] == ["▶ Run suite"]


def test_the_end_of_the_run_is_told(session: dict[str, Any]) -> None:
    assert session["ended"].endswith(": 0 of 1 task passed, 1 failed")


def test_the_hover_says_what_the_run_came_to(session: dict[str, Any]) -> None:
    assert "✗ 0.00" in session["recorded"]
    assert "missing text" in session["recorded"]


def test_an_edited_grader_is_graded_again_without_a_run(session: dict[str, Any]) -> None:
    assert session["regrades"][0] == "↻ Re-grade grader"
    assert "✓ 1.00" in session["regraded"]
    assert "without the agent" in session["regraded"]
