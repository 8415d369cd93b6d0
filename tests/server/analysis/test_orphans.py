"""Files that stand beside a suite and are not of it, or are reported to be of another kind."""

from pathlib import Path

import pytest

from tests.server.analysis.drawing import EVAL, TASK, problems
from tests.server.project.files import opened, put, workspace_with
from waza_language_server.analysis.diagnose import diagnose
from waza_language_server.project.document import DocumentKind

MODELINE = "# yaml-language-server: $schema=https://raw.example/waza/schemas/{}.schema.json\n"


def codes_of_task(folder: Path, tasks: str, text: str = TASK) -> set[str]:
    put(folder, "tasks/first.yaml", TASK.replace("id: t", "id: f"))
    put(folder, "eval.yaml", EVAL.replace("[tasks/*.yaml]", tasks))
    task = opened(put(folder, "tasks/second.yaml", text), "task")
    return {problem.code for problem in diagnose(task, workspace_with(roots=(folder,)))}


def test_a_task_that_the_suite_beside_it_leaves_out_is_marked(tmp_path: Path) -> None:
    assert "orphan-task" in codes_of_task(tmp_path, "[tasks/first.yaml]")


@pytest.mark.parametrize(
    ("tasks", "text"),
    [
        ("[tasks/*.yaml]", TASK),
        ("[tasks/first.yaml]", TASK + "enabled: false\n"),
        ("[tasks/second.yaml]", TASK),
    ],
)
def test_a_task_that_runs_or_is_switched_off_is_left_alone(tmp_path: Path, tasks: str, text: str) -> None:
    assert "orphan-task" not in codes_of_task(tmp_path, tasks, text)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (MODELINE.format("task") + TASK, "task"),
        (MODELINE.format("eval") + EVAL, "eval"),
        (MODELINE.format("my") + TASK, "task"),
        ("# $schema=eval.schema.json\n" + TASK, "task"),
    ],
)
def test_other_modelines_are_left_alone(text: str, kind: DocumentKind) -> None:
    assert "wrong-schema" not in {problem.code for problem in problems(text, kind)}
