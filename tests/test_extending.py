"""Each addition of `docs/howto` touches three files at most, and works everywhere.

The additions are in ``tests/extending``, one file each. All are made in one copy of both packages, which is
then used as people use it: by its commands, and by an editor.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import LIMIT_SECONDS
from tests.extending.addition import Addition
from tests.extending.executor import ECHO
from tests.extending.feature import LINKED_NAMES
from tests.extending.grader import WORD_COUNT
from tests.extending.report import ONE_LINE
from tests.extending.rule import SHOUTED_NAME
from tests.extending.run_option import GREETING
from tests.protocol.raw_client import RawClient
from waza_language_server.project.uris import uri_of

pytestmark = pytest.mark.check

ROOT = Path(__file__).parents[1]
COPIED = ("waza_engine", "server", "docs")
MOST_FILES = 3

ADDITIONS: Mapping[str, Addition] = {
    "rule": SHOUTED_NAME,
    "grader": WORD_COUNT,
    "executor": ECHO,
    "feature": LINKED_NAMES,
    "run option": GREETING,
    "report": ONE_LINE,
}

EVAL = """\
name: demo
skill: demo
config:
  trials_per_task: 1
  timeout_seconds: 60
  executor: loud-echo
  model: m
tasks: [tasks/*.yaml]
"""
TASK = """\
id: greets
name: GREETS
inputs:
  prompt: say hello
graders:
  - type: word_count
    name: is_short
    config:
      most: 5
"""


@dataclass(frozen=True, slots=True)
class Extended:
    """The copy with all additions: the files that each touched, and a suite that uses them."""

    repository: Path
    suite: Path
    touched: Mapping[str, set[str]]

    @property
    def record(self) -> Path:
        """Where the results of a run as the suite says are written, too."""
        return self.suite / "record.json"

    @property
    def environment(self) -> dict[str, str]:
        """The environment in which Python finds the packages of the copy."""
        path = os.pathsep.join(str(self.repository / place) for place in (".", "server"))
        return {**os.environ, "PYTHONPATH": path, "PYTHONUTF8": "1"}

    def python(self, *arguments: object, exit_code: int = 0) -> str:
        """Start Python in the suite; return what it prints."""
        done = subprocess.run(
            [sys.executable, *map(str, arguments)],
            capture_output=True,
            encoding="utf-8",
            timeout=LIMIT_SECONDS,
            check=False,
            env=self.environment,
            cwd=self.suite,
        )
        assert done.returncode == exit_code, done.stdout + done.stderr
        return done.stdout

    def run(self, *options: object, exit_code: int = 0) -> dict[str, Any]:
        """Run the suite; return the only trial of its only task."""
        told = self.python(
            "-m", "waza_engine", "run", self.suite, "--format", "json", *options, exit_code=exit_code
        )
        return json.loads(told)["tasks"][0]["runs"][0]


@pytest.fixture(scope="module")
def extended(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Extended]:
    repository = tmp_path_factory.mktemp("extended")
    for name in COPIED:
        shutil.copytree(ROOT / name, repository / name)
    touched: dict[str, set[str]] = {}
    for name, addition in ADDITIONS.items():
        before = _contents(repository)
        addition.add_to(repository)
        after = _contents(repository)
        touched[name] = {file for file, content in after.items() if before.get(file) != content}
    suite = repository / "suite"
    (suite / "tasks").mkdir(parents=True)
    (suite / "eval.yaml").write_text(EVAL, "utf-8")
    (suite / "tasks" / "greets.yaml").write_text(TASK, "utf-8")
    made = Extended(repository, suite, touched)
    # What `make schemas` does.
    made.python("-m", "waza_engine", "schema", "--out", repository / "waza_engine" / "schemas")
    yield made
    shutil.rmtree(repository)


@pytest.fixture(scope="module")
def trial(extended: Extended) -> dict[str, Any]:
    """The trial of a run as the suite says."""
    return extended.run("--output", extended.record)


@pytest.mark.parametrize("name", ADDITIONS)
def test_an_addition_is_at_most_three_files(extended: Extended, name: str) -> None:
    assert 0 < len(extended.touched[name]) <= MOST_FILES
    assert extended.touched[name] == ADDITIONS[name].touched


def test_the_packages_of_the_copy_are_used(extended: Extended) -> None:
    told = extended.python(
        "-c", "import waza_engine, waza_language_server as s; print(waza_engine.__file__, s.__file__)"
    )
    assert all(place.startswith(str(extended.repository)) for place in told.split())


def test_a_rule_shows_its_finding_in_a_terminal(extended: Extended) -> None:
    """It is the only one: the editor knows the grader and the executor from the schemas."""
    told = extended.python("-m", "waza_language_server", "check", "--format", "json", extended.suite)
    (finding,) = json.loads(told)
    line = TASK.splitlines().index("name: GREETS")
    found = finding["code"], finding["severity"], finding["range"]["start"], finding["range"]["end"]
    start, end = {"line": line, "character": 6}, {"line": line, "character": 12}
    assert found == ("shouted-name", "hint", start, end)


def test_a_rule_is_explained_in_the_documentation(extended: Extended) -> None:
    page = extended.python("-m", "waza_language_server.diagnostics_page")
    paragraph = page.partition("\n### shouted-name")[2].partition("\n### ")[0]
    assert "looks like a failure" in paragraph
    assert "name: Greets" in paragraph


def test_a_grader_grades(extended: Extended) -> None:
    verdict = extended.run("--executor", "mock", exit_code=1)["validations"]["is_short"]
    assert (verdict["passed"], verdict["feedback"]) == (False, "7 words, 5 at most")


def test_an_executor_answers(trial: dict[str, Any]) -> None:
    assert trial["final_output"] == "SAY HELLO"
    assert trial["validations"]["is_short"]["feedback"] == "2 words, 5 at most"


def test_a_run_option_is_an_option_of_the_command_and_a_parameter_of_the_method(extended: Extended) -> None:
    assert extended.run("--greeting", "please")["final_output"] == "PLEASE SAY HELLO"
    told = extended.python(
        "-c",
        "from pathlib import Path\n"
        "from waza_engine.commands.parameters import Params, run_settings\n"
        "from waza_engine.runs.settings.table import settings_from\n"
        "given = run_settings({'path': 'eval.yaml', 'greeting': 'please'}, lambda *_: Path('eval.yaml'))\n"
        "print(settings_from(given.document() | {'path': 'eval.yaml'}).greeting)\n",
    )
    assert told.strip() == "please"


@pytest.mark.usefixtures("trial")
def test_a_report_is_printed_and_offered(extended: Extended) -> None:
    told = extended.python("-m", "waza_engine", "report", extended.record, "--format", "one-line")
    assert told == "demo: 1 of 1\n"
    assert "one line for a chat" in extended.python("-m", "waza_engine", "report", "--help")


def test_a_feature_is_offered_and_answers(extended: Extended, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", extended.environment["PYTHONPATH"])
    monkeypatch.chdir(extended.suite)
    task = extended.suite / "tasks" / "greets.yaml"
    with RawClient() as client:
        abilities = client.initialize(extended.suite)["result"]["capabilities"]
        client.open(task)
        named = {"line": TASK.splitlines().index("    name: is_short"), "character": 12}
        answer = client.ask(
            "textDocument/linkedEditingRange", {"textDocument": {"uri": uri_of(task)}, "position": named}
        )
        position = {"line": TASK.splitlines().index("  - type: word_count"), "character": 12}
        hover = client.ask(
            "textDocument/hover", {"textDocument": {"uri": uri_of(task)}, "position": position}
        )
    assert abilities["linkedEditingRangeProvider"]
    assert [found["start"]["character"] for found in answer["result"]["ranges"]] == [10]
    assert "Counts the words" in json.dumps(hover)


def _contents(repository: Path) -> dict[str, str]:
    """Return a digest of every file by its path."""
    return {
        path.relative_to(repository).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in repository.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
