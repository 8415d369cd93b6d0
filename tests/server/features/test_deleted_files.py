"""Files are deleted: entries of lists that are nothing but their paths go with them, all else stays."""

from pathlib import Path

import pytest

from tests.server.features.suites import changed_texts
from tests.server.project.files import put, workspace_with
from waza_language_server.features.renames.moved_files import deleted_files

EVAL = """\
skill: deployer
config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: none}
graders:
  - {type: script, name: own, config: {script: "graders/check.py"}}
tasks:
  # the first
  - tasks/first.yaml # one
  - tasks/second.yaml
  - more/*.yaml
"""
TASK = """\
id: first
name: First
inputs:
  prompt: Go
  files:
    - path: data.csv
    - {path: other.csv}
    - path: named.csv
      content: ""
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    put(tmp_path, "evals/eval.yaml", EVAL)
    put(tmp_path, "evals/tasks/first.yaml", TASK)
    put(tmp_path, "evals/tasks/second.yaml", "id: second\ninputs: {prompt: Go}\n")
    put(tmp_path, "evals/more/third.yaml", "id: third\ninputs: {prompt: Go}\n")
    put(tmp_path, "evals/graders/check.py", "")
    for name in ("data", "other", "named"):
        put(tmp_path, f"evals/fixtures/{name}.csv", "")
    return tmp_path


def after(folder: Path, *names: str) -> dict[str, str]:
    """Return the texts that change when these files and folders go."""
    workspace = workspace_with(roots=(folder,))
    texts = changed_texts(deleted_files(workspace, [folder / "evals" / name for name in names]), folder)
    return {name.rpartition("/")[2]: text for name, text in texts.items()}


def test_the_entry_of_a_task_goes_with_its_file(suite: Path) -> None:
    assert after(suite, "tasks/second.yaml") == {"eval.yaml": EVAL.replace("  - tasks/second.yaml\n", "")}


def test_a_folder_takes_all_entries_along(suite: Path) -> None:
    left = EVAL.replace("  - tasks/second.yaml\n", "").replace("  - tasks/first.yaml # one\n", "")
    assert after(suite, "tasks") == {"eval.yaml": left}


def test_fixtures_in_a_list_go_where_the_path_is_all_that_an_item_says(suite: Path) -> None:
    assert after(suite, "fixtures/data.csv", "fixtures/other.csv", "fixtures/named.csv") == {
        "first.yaml": TASK.replace("    - path: data.csv\n    - {path: other.csv}\n", "")
    }


@pytest.mark.parametrize("name", ["graders/check.py", "more/third.yaml", "more", "eval.yaml", "nothing.txt"])
def test_values_of_keys_and_globs_stay(suite: Path, name: str) -> None:
    assert after(suite, name) == {}


def test_the_last_entry_leaves_an_empty_list(suite: Path) -> None:
    put(suite, "evals/eval.yaml", EVAL.replace("  - tasks/second.yaml\n  - more/*.yaml\n", ""))
    assert after(suite, "tasks")["eval.yaml"].endswith("tasks: []\n  # the first\n")


def test_a_file_with_faults_or_anchors_is_left_alone(suite: Path) -> None:
    for text in (EVAL.replace("tasks:", "tasks: &all"), EVAL.replace('"graders', "'")):
        put(suite, "evals/eval.yaml", text)
        assert after(suite, "tasks/second.yaml") == {}


def test_the_arguments_of_a_program_stay(suite: Path) -> None:
    text = "graders:\n- {type: program, name: a, config: {command: python, args: [graders/check.py, x]}}\n"
    put(suite, "evals/eval.yaml", f"skill: deployer\n{text}tasks: ['more/*.yaml']\n")
    assert after(suite, "graders/check.py") == {}
