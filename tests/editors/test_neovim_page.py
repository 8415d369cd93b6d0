"""Neovim set up by the lines of `docs/editors.md`, and the keys that they give."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.editors.greeter import reported
from tests.editors.installed import installed_neovim

pytestmark = pytest.mark.check

SCRIPT = Path(__file__).with_name("neovim_page.lua")
PAGE = Path(__file__).parents[2] / "docs" / "editors.md"


def lines_for(neovim: str) -> str:
    """Return the lines that the page gives for this Neovim."""
    newest, _grader, older = re.findall(r"^```lua\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S)
    said = subprocess.run([neovim, "--version"], capture_output=True, text=True, check=True).stdout
    major, minor = re.findall(r"v(\d+)\.(\d+)", said)[0]
    return newest if (int(major), int(minor)) >= (0, 11) else older


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a person saw who typed the keys of the page."""
    neovim = installed_neovim()
    folder = tmp_path_factory.mktemp("greeter")
    setup = tmp_path_factory.mktemp("setup") / "init.lua"
    setup.write_text(lines_for(neovim), "utf-8")
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    command = [neovim, "--headless", "-n", "-u", str(setup), "eval.yaml", "-S", str(SCRIPT)]
    return reported(folder, command, {"PATH": programs})


def test_the_keys_of_the_page_do_what_it_says(session: dict[str, Any]) -> None:
    assert session["diagnostics"] == 1
    assert session["file"] == "greet.yaml"
    assert session["messages"][-1].endswith(": 0 of 1 task passed, 1 failed")
