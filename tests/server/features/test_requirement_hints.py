"""In a ``SKILL.md`` each promise says how many tests name it."""

from pathlib import Path

from tests.server.project.files import opened, put, workspace_with
from waza_language_server.features.scores.inlay_hints import InlayHint
from waza_language_server.features.scores.requirement_hints import requirement_hints
from waza_language_server.project.skill_file import SkillFile
from waza_language_server.project.suites_of_skills import SuitesOfSkills
from waza_language_server.project.uris import uri_of
from waza_language_server.project.workspace import Workspace

SKILL = """\
---
name: pdf-filler
description: >-
  Fills forms.
  USE FOR: fill forms, extract
    text, merge files. DO NOT USE FOR: print pages.
inputs:
  - page range
---
# PDF filler

## Parameters
- `quality`: How sharp pictures are
"""
EVAL = (
    "name: forms\nskill: pdf-filler\ntasks:\n- tasks/*.yaml\n- {id: b, inputs: {prompt: Extract the text}}\n"
)
TASK = "id: a\ninputs:\n  prompt: Fill the forms\n"
TRIGGERS = (
    "should_trigger_prompts:\n- prompt: Fill forms for me\nshould_not_trigger_prompts:\n- Print all pages\n"
)


def workspace_of(folder: Path) -> Workspace:
    put(folder, "evals/pdf-filler/eval.yaml", EVAL)
    put(folder, "evals/pdf-filler/tasks/a.yaml", TASK)
    put(folder, "evals/pdf-filler/trigger_tests.yaml", TRIGGERS)
    return workspace_with(roots=(folder,))


def hints(folder: Path, workspace: Workspace, text: str = SKILL) -> tuple[InlayHint, ...]:
    path = put(folder, "skills/pdf-filler/SKILL.md", text)
    skill = SkillFile(uri_of(path), path, text)
    suites = SuitesOfSkills().of(skill, workspace.project)
    return requirement_hints(skill, suites, workspace.project)


def shown(text: str, found: tuple[InlayHint, ...]) -> str:
    for hint in reversed(found):
        text = f"{text[: hint.offset]}⟨{hint.label}⟩{text[hint.offset :]}"
    return text


def test_each_promise_says_how_many_tests_name_it(tmp_path: Path) -> None:
    assert (
        shown(SKILL, hints(tmp_path, workspace_of(tmp_path)))
        == """\
---
name: pdf-filler
description: >-
  Fills forms.
  USE FOR: fill forms⟨1 task, 1 prompt⟩, extract
    text⟨1 task⟩, merge files⟨no test⟩. DO NOT USE FOR: print pages⟨1 prompt⟩.
inputs:
  - page range⟨no test⟩
---
# PDF filler

## Parameters
- `quality`: How sharp pictures are⟨no test⟩
"""
    )


def test_its_hover_has_the_id_and_the_tests(tmp_path: Path) -> None:
    told = [hint.tooltip.splitlines()[0] for hint in hints(tmp_path, workspace_of(tmp_path))]
    assert told[:4] == [
        "`req-use-001` is named by `a`, `Fill forms for me`.",
        "`req-use-002` is named by `b`.",
        "No task and no trigger prompt names this (`req-use-003`).",
        "`req-dont-001` is named by `Print all pages`.",
    ]


def test_an_open_task_counts_as_it_stands_there(tmp_path: Path) -> None:
    workspace_of(tmp_path)
    task = tmp_path / "evals/pdf-filler/tasks/a.yaml"
    document = opened(task, "task", TASK.replace("Fill the forms", "Merge these files"))
    workspace = workspace_with(document, roots=(tmp_path,))
    assert [hint.label for hint in hints(tmp_path, workspace)][:3] == ["1 prompt", "1 task", "1 task"]


def test_where_no_suite_tests_the_skill_nothing_is_said(tmp_path: Path) -> None:
    assert hints(tmp_path, workspace_with(roots=(tmp_path,))) == ()


def test_what_rows_of_a_table_ask_for_is_not_known(tmp_path: Path) -> None:
    workspace = workspace_of(tmp_path)
    put(tmp_path, "evals/pdf-filler/eval.yaml", f"{EVAL}tasks_from: rows.csv\n")
    assert "no test" not in [hint.label for hint in hints(tmp_path, workspace)]


def test_a_description_with_windows_line_ends_or_quotes_has_its_hints(tmp_path: Path) -> None:
    workspace = workspace_of(tmp_path)
    text = '---\r\nname: pdf-filler\r\ndescription: "Use for: say \\"hi\\", merge files"\r\n---\r\n'
    assert shown(text, hints(tmp_path, workspace, text)).splitlines()[2] == (
        'description: "Use for: say \\"hi⟨no test⟩\\", merge files"'
    )


def test_a_task_of_several_suites_counts_once(tmp_path: Path) -> None:
    workspace_of(tmp_path)
    put(tmp_path, "evals/pdf-filler/more/eval.yaml", EVAL.replace("tasks/*", "../tasks/*"))
    found = hints(tmp_path, workspace_with(roots=(tmp_path,)))
    assert found[0].label == "1 task, 1 prompt"


def test_what_only_the_last_of_many_suites_tests_is_tested(tmp_path: Path) -> None:
    for number in range(5):
        task = f"{{id: t{number}, inputs: {{prompt: Merge files}}}}" if number == 4 else "a.yaml"
        put(
            tmp_path,
            f"evals/{number}/eval.yaml",
            f"name: s{number}\nskill: pdf-filler\ntasks: [{task}]\n",
        )
        put(tmp_path, f"evals/{number}/a.yaml", "id: a\ninputs: {prompt: Go}\n")
    found = hints(tmp_path, workspace_with(roots=(tmp_path,)))
    assert [hint.label for hint in found if "req-use-003" in hint.tooltip] == ["1 task"]
