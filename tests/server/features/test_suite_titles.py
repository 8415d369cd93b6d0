"""Suites are called by their name, and moments read the same everywhere."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.engine.suites import GREETS, run, task, write_suite
from tests.server.project.files import opened, project_with, put
from waza_engine.commands.result_page import recorded_runs
from waza_engine.moments import local_time
from waza_language_server.features.runnables import live_source as beds
from waza_language_server.project.suite_files import suite_title


@pytest.mark.parametrize(
    ("text", "title"), [("name: Deploys things\n", "Deploys things"), ("skill: a\n", "deploy")]
)
def test_a_suite_without_a_name_is_called_by_its_folder(tmp_path: Path, text: str, title: str) -> None:
    assert suite_title(project_with(), put(tmp_path, "deploy/eval.yaml", text)) == title


def test_the_test_bed_tells_its_run_as_pages_do(tmp_path: Path) -> None:
    path = put(tmp_path, "eval.yaml", "name: a\ngraders: []\n")
    started = datetime(2026, 11, 12, 10, 4, 31, tzinfo=UTC)
    lens = beds.baseline_lens(opened(path, "eval"), beds.RecordedBaseline(path, {}, started))
    assert lens is not None
    assert f"run of {local_time(started)}," in lens.title


def test_a_run_of_one_grader_is_told_as_such_in_the_list_of_runs(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, {"a": task("a")}, graders=GREETS)
    run(suite)
    run(suite, graders=("greets",))
    assert {each["part"] for each in recorded_runs(suite, None)} == {"", "the grader `greets` alone"}
