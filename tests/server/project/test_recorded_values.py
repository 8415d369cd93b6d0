"""What decides the scores of a suite as it is written now: in open texts, and on the disk."""

import os
from pathlib import Path

from tests.server.project.files import EVAL, TASK, write
from waza_engine.spec.reading.scalars import Json
from waza_language_server.project.document import Document
from waza_language_server.project.index import Project
from waza_language_server.project.uris import uri_of
from waza_language_server.project.values_of_suites import entries

GRADER = """\
    graders:
      - type: text
        name: own
        config:
          contains: [{}]
"""


def test_an_open_text_comes_before_the_disk(tmp_path: Path) -> None:
    suite, task = suite_with(tmp_path, "a")
    project = Project([tmp_path])
    assert words(project, suite) == ["a"]
    edited = task.read_text("utf-8").replace("[a]", "[b]")
    assert words(project.with_document(Document(uri_of(task), 1, edited, "task")), suite) == ["b"]
    assert words(project, suite) == ["a"]


def test_a_closed_file_that_has_changed_is_read_again(tmp_path: Path) -> None:
    suite, task = suite_with(tmp_path, "a")
    project = Project([tmp_path])
    assert words(project, suite) == ["a"]
    task.write_text(task.read_text("utf-8").replace("[a]", "[another]"), "utf-8")
    os.utime(task, (1, 1))
    assert words(project, suite) == ["another"]


def suite_with(folder: Path, word: str) -> tuple[Path, Path]:
    write(folder, eval_yaml=EVAL, tasks__one_yaml=TASK + GRADER.format(word))
    return folder / "eval.yaml", folder / "tasks" / "one.yaml"


def words(project: Project, suite: Path) -> Json:
    """Return what the grader of the task asks for."""
    entry = entries(project, suite)["first", "own"]
    assert isinstance(entry, dict)
    config = entry["config"]
    assert isinstance(config, dict)
    return config["contains"]
