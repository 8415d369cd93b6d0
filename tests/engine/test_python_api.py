"""The Python API as its page shows it, and its errors."""

import doctest
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engine.greeter import write_greeter
from waza_engine import ResultsError, SuiteError, SuiteFileError, check, grade, load_suite, run

PAGE = Path(__file__).parents[2] / "docs" / "python.md"


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = write_greeter(tmp_path / "evals" / "greeter", greets="Say hello")
    skill = "---\nname: greeter\ndescription: Greets people.\n---\nGreet.\n"
    (directory / "SKILL.md").write_text(skill, "utf-8")
    monkeypatch.chdir(tmp_path)
    return directory


@pytest.mark.usefixtures("suite")
def test_the_page_shows_what_happens() -> None:
    found = doctest.testfile(str(PAGE), module_relative=False)
    assert (found.failed, found.attempted > 6) == (0, True)


def test_options_that_select_nothing_are_an_error(suite: Path) -> None:
    with pytest.raises(SuiteError, match="nothing"):
        run(suite, tasks="nothing")


def test_what_is_missing_or_broken_is_a_typed_error(suite: Path, tmp_path: Path) -> None:
    with pytest.raises(ResultsError):
        grade(suite)
    with pytest.raises(SuiteError, match=r"no eval\.yaml"):
        load_suite(suite / "tasks")
    with pytest.raises(SuiteError, match="does not exist"):
        check(tmp_path / "none")
    (suite / "eval.yaml").write_text("name: [", "utf-8")
    with pytest.raises(SuiteFileError):
        load_suite(suite)


def test_importing_the_package_loads_no_engine() -> None:
    code = "import sys, waza_engine, waza_engine.pytest_plugin; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    engine = {name for name in loaded.split() if name.startswith("waza_engine")}
    assert engine == {"waza_engine", "waza_engine.version", "waza_engine.pytest_plugin"}
