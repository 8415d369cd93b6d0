"""A new suite is made where its runs find its skill, or it is said that they do not."""

from pathlib import Path

import pytest

from tests.engine.suites import run
from waza_engine.scaffold.file_changes import write_files
from waza_engine.scaffold.suite_from_skill import NewSuite, new_suite
from waza_engine.spec.problems import SuiteFileError

SKILL = "---\nname: brew-tea\ndescription: Brews tea.\n---\n"


def made(folder: Path, out: Path) -> NewSuite:
    """Make and write a suite for a skill in a folder."""
    skill = folder / "skills" / "tea"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text(SKILL, "utf-8")
    suite = new_suite(skill, out)
    write_files(suite.directory, suite.files, force=False)
    return suite


def test_a_suite_that_a_run_refuses_is_made_with_a_warning(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, away = tmp_path_factory.mktemp("repository"), tmp_path_factory.mktemp("away")
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    suite = made(here, away / "tea")
    (warning,) = suite.warnings
    assert warning.startswith("a run refuses this suite: its skill in ")
    assert "make the suite in the folder or the repository of the skill" in warning
    with pytest.raises(SuiteFileError, match="leads out of"):
        run(suite.directory / "eval.yaml")


def test_a_suite_in_the_repository_of_its_skill_has_no_warning(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path_factory.mktemp("repository")
    (here / ".git").mkdir()
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    suite = made(here, here / "evals" / "tea")
    assert suite.warnings == ()
    report, _ = run(suite.directory / "eval.yaml")
    assert report.outcome.status == "completed"
