"""Every file of the sample suites is recognised, and every suite among them finds its tasks."""

import csv

import pytest

from tests.shared_corpus import SUITES, needs_corpus
from waza_language_server.project.claim import EVAL_NAMES
from waza_language_server.project.index import Project

pytestmark = needs_corpus
KINDS = {"eval": "eval", "task": "task", "trigger": "trigger_tests", "config": "project_config"}


def labelled() -> list[dict[str, str]]:
    index = SUITES.parent / "index.csv"
    if not index.is_file():
        pytest.skip("the sample suites have no index")
    with index.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_sample_file_is_claimed_as_what_it_is() -> None:
    project = Project()
    wrong: list[str] = []
    for row in labelled():
        path = SUITES / row["snapshot"] / row["path"]
        if path.is_file() and (kind := project.claim(path)) != KINDS[row["kind"]]:
            wrong.append(f"{path}: {kind} instead of {row['kind']}")
    assert wrong == []


def test_nothing_else_among_the_samples_is_claimed() -> None:
    ours = {SUITES / row["snapshot"] / row["path"] for row in labelled()}
    project = Project()
    assert [path for path in SUITES.rglob("*.y*ml") if path not in ours and project.claim(path)] == []


def test_every_sample_suite_finds_its_tasks() -> None:
    project = Project()
    folders = {(SUITES / row["snapshot"] / row["path"]).parent for row in labelled() if row["kind"] == "eval"}
    # Files with other names are what unit tests of upstream load.
    found = (suite for folder in sorted(folders) for suite in project.suites_in(folder))
    suites = [suite for suite in found if suite.path.name in EVAL_NAMES]
    assert len(suites) > 50
    assert [suite.path for suite in suites if not project.task_ids(suite).known] == []
