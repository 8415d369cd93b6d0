"""The commands of the README and of the pages below ``docs/`` work, in order, in a new project."""

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.command_line import Finished, engine, harness, language_server

pytestmark = pytest.mark.check

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAGES = sorted([README, *(ROOT / "docs").rglob("*.md")])
SKILL = """\
---
name: my-skill
description: "Explains code. USE FOR: explain this code, summarize this. DO NOT USE FOR: writing new code."
---

# Explain code

Read the file, then explain it in three sentences.
"""
COMMANDS = {"waza-engine": engine, "waza-harness": harness, "waza-language-server": language_server}
# Sentences name the parts of a command that a reader fills in.
FILLED_IN = {
    **dict.fromkeys(("EVAL", "SUITE", "RESULTS", "RECORD", "B", "B…"), "evals/my-skill"),
    "A": "before.json",
    "TASK": "explain-this-code",
    "COMMIT": "main",
    "CODE": "unknown-key",
    "DIR": "schemas",
    "NAME": "mock",
    "ROOT": ".",
    "[OLD NEW]": "",
}
_PLACEHOLDER = re.compile(r"\[[A-Z ]+\]|(?<![\w-])[A-Z]+…?(?![\w-])")
# Servers that run until their client leaves, clusters, what changes the shell of a person, and what needs an
# agent, a model, labels, a package, an interrupted run or a record that is replayed.
_NOT_HERE = re.compile(
    r"--stdio| mcp\b|--install-completion|--model \S|--executor replay|--grader NAME --pass|--references"
    r"|--resume|--listener|--schema claude|--cluster| worker\b| cluster scheduler"
)


@pytest.fixture(scope="module")
def readme(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Finished]]:
    """A project in a folder with a space in its name, and the README's commands that did not exit with 0."""
    project = tmp_path_factory.mktemp("docs") / "my project"
    (project / "skills" / "my-skill").mkdir(parents=True)
    (project / "skills" / "my-skill" / "SKILL.md").write_text(SKILL, "utf-8")
    for folder in ("prompts-file", "adapters"):
        shutil.copytree(ROOT / "examples" / folder, project.parent / "examples" / folder)
    _commit(project)
    return project, [found for found in carried_out(project, fenced(README)) if found.returncode != 0]


def test_each_command_of_the_readme_works_on_what_the_ones_before_it_left(
    readme: tuple[Path, list[Finished]],
) -> None:
    assert len(list(fenced(README))) > 15
    assert readme[1] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_each_command_of_a_page_works(readme: tuple[Path, list[Finished]], page: Path) -> None:
    project, _ = readme
    # The README has written these.
    shutil.rmtree(project / ".github", ignore_errors=True)
    # A page converts the suite, and the others have one.
    shutil.rmtree(project / "converted", ignore_errors=True)
    shutil.copy(project / "before.json", project / "baseline.json")
    commands = [*(fenced(page) if page != README else ()), *inline(page)]
    # Exit code 1 is a verdict: a task that the README has added fails.
    assert [found for found in carried_out(project, commands) if found.returncode not in (0, 1)] == []


def fenced(page: Path) -> Iterator[str]:
    """Yield the commands of the shell blocks of a page."""
    for block in re.findall(r"```sh\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
        # A second command is for the exit code of the first.
        yield from (line.partition(" || ")[0] for line in block.splitlines())


def inline(page: Path) -> Iterator[str]:
    """Yield the commands in the sentences of a page."""
    for command in re.findall(r"`(waza-(?:engine|language-server) [^`]*)`", page.read_text("utf-8")):
        if not _NOT_HERE.search(command):
            yield _PLACEHOLDER.sub(lambda found: FILLED_IN[found[0]], command)


def carried_out(project: Path, commands: Iterable[str]) -> Iterator[Finished]:
    """Yield the end of each command that is one of ours."""
    for command in commands:
        words = shlex.split(command, comments=True)
        if words and words[0] in COMMANDS and not _NOT_HERE.search(command):
            place = project.parent if any(word.startswith("examples/") for word in words) else project
            found = COMMANDS[words[0]](*words[1:], cwd=place)
            assert "Traceback" not in found.stderr, command
            yield found


def _commit(project: Path) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    for arguments in (
        ["init", "-q", "-b", "main"],
        ["add", "-A"],
        [*identity, "commit", "-q", "-m", "skill"],
    ):
        subprocess.run(["git", *arguments], cwd=project, check=True)
