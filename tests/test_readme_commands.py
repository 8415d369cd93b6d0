"""The commands of the README's terminal section work, in order, in a new project."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.command_line import Finished, engine, language_server

pytestmark = pytest.mark.check

README = Path(__file__).parents[1] / "README.md"
SKILL = """\
---
name: my-skill
description: "Explains code. USE FOR: explain this code, summarize this. DO NOT USE FOR: writing new code."
---

# Explain code

Read the file, then explain it in three sentences.
"""
COMMANDS = {"waza-engine": engine, "waza-language-server": language_server}


def commands() -> list[list[str]]:
    """Return the commands of the code block with `waza-engine new suite`, without comments."""
    blocks = re.findall(r"```sh\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    (block,) = (block for block in blocks if "waza-engine new suite" in block)
    return [shlex.split(line, comments=True) for line in block.splitlines()]


def test_each_command_works_on_what_the_ones_before_it_left(tmp_path: Path) -> None:
    project = tmp_path / "my project"
    (project / "skills" / "my-skill").mkdir(parents=True)
    (project / "skills" / "my-skill" / "SKILL.md").write_text(SKILL, "utf-8")
    _commit(project)
    failed: list[tuple[list[str], Finished]] = []
    for command in commands():
        found = COMMANDS[command[0]](*command[1:], cwd=project)
        if found.returncode != 0:
            failed.append((command, found))
    assert len(commands()) > 15
    assert not failed


def _commit(project: Path) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    for arguments in (
        ["init", "-q", "-b", "main"],
        ["add", "-A"],
        [*identity, "commit", "-q", "-m", "skill"],
    ):
        subprocess.run(["git", *arguments], cwd=project, check=True)
